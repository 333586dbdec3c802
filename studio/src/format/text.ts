const NONE = '–';
/** Shown while a time zone is not known. */
const NOT_KNOWN_YET = '…';
const DAY_MS = 86_400_000;

const isNone = (text: OptionalText): text is null | undefined | '' =>
  text === null || text === undefined || text === '';

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const instant = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});
const month = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const number = new Intl.NumberFormat();
/** Shows all digits. The default is at most three decimals. */
const decimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 20 });

type OptionalText = string | null | undefined;

const UTC = 'UTC';

/** Formats the local date of each zone as `2026-03-01`, which is the form of this locale. */
const datesIn = new Map<string, Intl.DateTimeFormat>();

function dateFormatOf(timeZone: string): Intl.DateTimeFormat {
  const known = datesIn.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeZone });
  datesIn.set(timeZone, format);
  return format;
}

/** Returns the time zone, or UTC if the browser is too old to know it. */
export function knownZone(timeZone: string): string {
  try {
    dateFormatOf(timeZone);
    return timeZone;
  } catch {
    return UTC;
  }
}

/** Returns midnight UTC of the local date, in milliseconds. */
const localDay = (text: string, timeZone: string): number =>
  Date.parse(dateFormatOf(timeZone).format(new Date(text)));

/**
 * Returns the local date. The heading of the column names the time zone.
 * @param timeZone a {@link knownZone}; null while it is not known
 */
export function showDay(text: OptionalText, timeZone: string | null = UTC): string {
  if (isNone(text)) return NONE;
  return timeZone === null ? NOT_KNOWN_YET : day.format(localDay(text, timeZone));
}

/** Returns the name of a time zone. @param timeZone null while it is not known */
export const showZone = (timeZone: string | null): string => timeZone ?? NOT_KNOWN_YET;

/** Returns the month of an instant in UTC. */
export function showMonth(text: string): string {
  return month.format(new Date(text));
}

export function showInstant(text: OptionalText): string {
  return isNone(text) ? NONE : `${instant.format(new Date(text))} UTC`;
}

/**
 * Returns the local date and time, and the name of the time zone.
 * @param timeZone a {@link knownZone}; null while it is not known
 */
export function showInstantIn(timeZone: string | null, text: OptionalText): string {
  if (isNone(text) || timeZone === UTC) return showInstant(text);
  if (timeZone === null) return NOT_KNOWN_YET;
  const local = new Date(text).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone,
  });
  return `${local} (${timeZone})`;
}

/**
 * Returns the first and the last local day of a period, both included, as the PDF of an invoice does.
 * @param timeZone a {@link knownZone}; null while it is not known
 */
export function showPeriod(
  start: OptionalText,
  end: OptionalText,
  timeZone: string | null = UTC,
): string {
  if (isNone(start) || isNone(end)) return NONE;
  if (timeZone === null) return NOT_KNOWN_YET;
  const first = localDay(start, timeZone);
  const last = localDay(end, timeZone) - DAY_MS;
  return last <= first ? day.format(first) : `${day.format(first)} to ${day.format(last)}`;
}

/** Returns the period as {@link showPeriod} does, and the name of the time zone. */
export function showPeriodIn(zone: string, start: OptionalText, end: OptionalText): string {
  if (isNone(start) || isNone(end)) return NONE;
  const timeZone = knownZone(zone);
  return `${showPeriod(start, end, timeZone)} (${timeZone})`;
}

/** Returns a number with separators: a decimal string with all its digits, a number with at most three decimals. */
export function showNumber(value: number | string): string {
  return typeof value === 'string'
    ? decimal.format(value as Intl.StringNumericLiteral)
    : number.format(value);
}

export function showText(text: OptionalText): string {
  return isNone(text) ? NONE : text;
}

/** Returns at most `max` characters. Leaves out the middle, because similar texts often differ at their ends. */
export function shorten(text: string, max: number): string {
  const characters = [...text];
  if (characters.length <= max) return text;
  const kept = Math.floor((max - 1) / 2);
  return `${characters.slice(0, kept).join('')}…${characters.slice(-kept).join('')}`;
}

/** Returns a code such as `past_due` as words. */
export function showCode(text: OptionalText): string {
  return showText(text).replaceAll('_', ' ').replaceAll('.', ' ');
}
