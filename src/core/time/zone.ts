import { Temporal } from 'temporal-polyfill';
import { invariant } from '../invariant';
import type { Period } from './period';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Returns true if `timeZone` is a known IANA name (`Europe/Paris`, `UTC`). */
export function isTimeZone(timeZone: string): boolean {
  return findLocal(0, timeZone) !== null;
}

/** Returns null if `timeZone` is not a known IANA name. */
function findLocal(epochMs: number, timeZone: string): Temporal.ZonedDateTime | null {
  // A bare offset such as +02:00 has no daylight saving time, so it is not a customer's time zone.
  if (!/^[A-Za-z]/.test(timeZone)) {
    return null;
  }
  try {
    return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone);
  } catch {
    return null;
  }
}

/**
 * Returns the local date of `instant` in `timeZone`: `2026-03-01`.
 * @throws InvariantError when the zone is unknown.
 */
export function localDateOn(instant: Date, timeZone: string): string {
  return toLocal(instant, timeZone).toPlainDate().toString();
}

/**
 * Returns the number of local dates of a period. Counts the date on which the period starts, but not the date on which
 * it ends. The numbers of adjoining periods therefore add up. A date that the zone skipped (Apia, 30 December 2011)
 * still counts.
 * @throws InvariantError when the zone is unknown.
 */
export function localDateCount(period: Period, timeZone: string): bigint {
  const first = toLocal(period.startAt, timeZone).toPlainDate();
  const last = toLocal(period.endAt, timeZone).toPlainDate();
  return BigInt(first.until(last, { largestUnit: 'day' }).days);
}

/**
 * Returns the last local date that {@link localDateCount} counts: the day before the date on which the period ends. If
 * the period starts and ends on one date, returns that date.
 * @throws InvariantError when the zone is unknown.
 */
export function lastLocalDateOf(period: Period, timeZone: string): string {
  const first = toLocal(period.startAt, timeZone).toPlainDate();
  const last = toLocal(period.endAt, timeZone).toPlainDate().subtract({ days: 1 });
  return (Temporal.PlainDate.compare(last, first) < 0 ? first : last).toString();
}

/**
 * Returns the start of the local month that lies one year before the month of `instant`: 1 March 2027 for 31 March
 * 2028.
 * @throws InvariantError when the zone is unknown.
 */
export function monthOfYearBefore(instant: Date, timeZone: string): Date {
  const firstDay = toLocal(instant, timeZone).toPlainDateTime().with({ day: 1 }).withPlainTime();
  return toInstant(firstDay.subtract({ years: 1 }), timeZone);
}

/**
 * Returns a function that gives the next instant at which an hour starts on the wall clock of `timeZone`. In Kathmandu,
 * for example, hours start at a quarter past the UTC hour. If the clock changes before that, as in Chatham at 02:45, the
 * function gives the instant of the change. Call it with ascending instants: it searches for the next change only after
 * the one that it has found.
 * @throws InvariantError when the zone is unknown.
 */
export function localHourEnds(timeZone: string): (instant: Date) => Date {
  let offsetMs = 0;
  let changesAtMs = -Infinity;
  return (instant) => {
    const ms = instant.getTime();
    if (ms >= changesAtMs) {
      const local = toLocal(instant, timeZone);
      offsetMs = local.offsetNanoseconds / 1_000_000;
      changesAtMs = local.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity;
    }
    const localMs = ms + offsetMs;
    const nextMs = (Math.floor(localMs / HOUR_MS) + 1) * HOUR_MS - offsetMs;
    return new Date(Math.min(nextMs, changesAtMs));
  };
}

/** Use only in this folder, because other code must not depend on `Temporal`. */
export function toLocal(instant: Date, timeZone: string): Temporal.ZonedDateTime {
  invariant(!Number.isNaN(instant.getTime()), 'an instant is a valid date');
  const local = findLocal(instant.getTime(), timeZone);
  invariant(local !== null, `${JSON.stringify(timeZone)} is not a time zone`);
  return local;
}

/**
 * Returns the local time at `instant`, without its zone. {@link toInstant} moves a local time that a DST change skips
 * to a later instant. For such an instant, returns the skipped time, e.g. 02:30 instead of 03:30.
 */
export function toLocalBeforeMove(instant: Date, timeZone: string): Temporal.PlainDateTime {
  const zoned = toLocal(instant, timeZone);
  const dayBefore = toLocal(new Date(instant.getTime() - DAY_MS), timeZone);
  const local = zoned.toPlainDateTime();
  const gap = { nanoseconds: zoned.offsetNanoseconds - dayBefore.offsetNanoseconds };
  if (gap.nanoseconds <= 0) return local;
  const skipped = local.subtract(gap);
  return toInstant(skipped, timeZone).getTime() === instant.getTime() ? skipped : local;
}

/**
 * Returns the instant at which the wall clock of `timeZone` shows `local`. A time that a DST change skips is moved
 * later by the length of the gap. A time that occurs twice gives the first instant.
 */
export function toInstant(local: Temporal.PlainDateTime, timeZone: string): Date {
  const zoned = local.toZonedDateTime(timeZone, { disambiguation: 'compatible' });
  return new Date(zoned.epochMilliseconds);
}
