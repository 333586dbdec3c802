const NONE = '–';

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

/** Returns the date in UTC. The heading of the column names the time zone. */
export function showDay(text: OptionalText): string {
  return isNone(text) ? NONE : day.format(new Date(text));
}

/** Returns the month of an instant in UTC. */
export function showMonth(text: string): string {
  return month.format(new Date(text));
}

export function showInstant(text: OptionalText): string {
  return isNone(text) ? NONE : `${instant.format(new Date(text))} UTC`;
}

export function showPeriod(start: OptionalText, end: OptionalText): string {
  return isNone(start) || isNone(end) ? NONE : `${showDay(start)} to ${showDay(end)}`;
}

const dayOfZones = new Map<string, Intl.DateTimeFormat>();

function dayOfZone(timeZone: string): Intl.DateTimeFormat {
  const known = dayOfZones.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone });
  dayOfZones.set(timeZone, format);
  return format;
}

/** Returns the local dates of a period, and the name of the time zone. */
export function showPeriodIn(zone: string, start: OptionalText, end: OptionalText): string {
  if (isNone(start) || isNone(end)) return NONE;
  try {
    const local = dayOfZone(zone);
    return `${local.format(new Date(start))} to ${local.format(new Date(end))} (${zone})`;
  } catch {
    // An old browser does not know a new zone.
    return `${showPeriod(start, end)} (UTC)`;
  }
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
