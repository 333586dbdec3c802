import { Temporal } from 'temporal-polyfill';
import { invariant } from '../invariant';
import type { Period } from './period';

/**
 * Returns true when `timeZone` is a known IANA name (`Europe/Paris`, `UTC`).
 */
export function isTimeZone(timeZone: string): boolean {
  // A bare offset such as +02:00 knows no DST and is not a zone a customer lives in.
  if (!/^[A-Za-z]/.test(timeZone)) {
    return false;
  }
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timeZone);
    return true;
  } catch {
    return false;
  }
}

/**
 * The local date of `instant` in `timeZone`, as `2026-03-01`.
 *
 * @throws InvariantError when the zone is unknown.
 */
export function localDateOn(instant: Date, timeZone: string): string {
  return toLocal(instant, timeZone).toPlainDate().toString();
}

/**
 * The number of local dates from the one the period starts on up to, and without, the one it ends
 * on. Dates of adjoining periods therefore add up to those of both, at whatever time of day they
 * meet. A date that the zone skipped (Apia, 30 December 2011) is still a date of the calendar.
 *
 * @throws InvariantError when the zone is unknown.
 */
export function localDateCount(period: Period, timeZone: string): bigint {
  const first = toLocal(period.startAt, timeZone).toPlainDate();
  const last = toLocal(period.endAt, timeZone).toPlainDate();
  return BigInt(first.until(last, { largestUnit: 'day' }).days);
}

/**
 * The last local date that counts towards the period, as {@link localDateCount} counts: the one
 * before the date it ends on, at whatever time of day. A period within one date has that date.
 *
 * @throws InvariantError when the zone is unknown.
 */
export function lastLocalDateOf(period: Period, timeZone: string): string {
  const first = toLocal(period.startAt, timeZone).toPlainDate();
  const last = toLocal(period.endAt, timeZone).toPlainDate().subtract({ days: 1 });
  return (Temporal.PlainDate.compare(last, first) < 0 ? first : last).toString();
}

/**
 * The instant after `instant` at which the next hour begins on the wall clock of `timeZone`: in Kathmandu a quarter past
 * the hour of UTC. Where the clock changes within an hour, what is left of the hour before the change still counts.
 *
 * @throws InvariantError when the zone is unknown.
 */
export function localHourAfter(instant: Date, timeZone: string): Date {
  const { minute, second, millisecond } = toLocal(instant, timeZone);
  const intoHourMs = (minute * 60 + second) * 1000 + millisecond;
  return new Date(instant.getTime() + 3_600_000 - intoHourMs);
}

/** `instant` on the wall clock of `timeZone`. For this folder only: no other sees the library. */
export function toLocal(instant: Date, timeZone: string): Temporal.ZonedDateTime {
  invariant(!Number.isNaN(instant.getTime()), 'an instant is a valid date');
  invariant(isTimeZone(timeZone), `${JSON.stringify(timeZone)} is not a time zone`);
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timeZone);
}

/**
 * The instant at which the wall clock of `timeZone` shows `local`. A time that a DST change skips
 * is moved later by the length of the gap, one that comes twice is the first of the two.
 */
export function toInstant(local: Temporal.PlainDateTime, timeZone: string): Date {
  const zoned = local.toZonedDateTime(timeZone, { disambiguation: 'compatible' });
  return new Date(zoned.epochMilliseconds);
}
