/**
 * A calendar for the reference model, independent of the engine: local times through `Intl`. Instants and local times
 * are milliseconds. A local time is stored as the instant at which a clock in UTC shows the same date and time.
 */
export type Interval = 'week' | 'month' | 'year';

const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
}

/** Returns the local time of an instant in a zone. */
function wallClock(instant: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return Date.UTC(
    of('year'),
    of('month') - 1,
    of('day'),
    of('hour'),
    of('minute'),
    of('second'),
    ((instant % 1_000) + 1_000) % 1_000,
  );
}

/**
 * Returns the instant of a local time; if there are two, the first one. A local time that is skipped, as when clocks go
 * forward an hour, counts as the time an hour later.
 */
function instantOf(wall: number, zone: string): number {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((near) => wallClock(near, zone) - near);
  const candidates = offsets.map((offset) => wall - offset);
  return (
    candidates.find((candidate) => wallClock(candidate, zone) === wall) ?? candidates[0] ?? wall
  );
}

/** Counts the local midnights between two instants. */
export function datesBetween(from: number, to: number, zone: string): bigint {
  const dayOf = (instant: number): number => Math.floor(wallClock(instant, zone) / DAY_MS);
  return BigInt(dayOf(to) - dayOf(from));
}

export function secondsBetween(from: number, to: number): bigint {
  return BigInt(to - from) / 1_000n;
}

/** Adds days to the local time of an instant. */
export function afterDays(instant: number, days: number, zone: string): number {
  return instantOf(wallClock(instant, zone) + days * DAY_MS, zone);
}

/** Adds intervals to an anchor. A month without the day of the anchor is represented by its last day. */
export function afterIntervals(
  anchor: number,
  interval: Interval,
  count: number,
  zone: string,
  mode: 'anniversary' | 'calendar' = 'anniversary',
): number {
  const wall = wallClock(anchor, zone);
  const origin = mode === 'anniversary' ? wall : calendarStart(wall, interval);
  return instantOf(addOnWall(origin, interval, count), zone);
}

/**
 * Returns the end of some months that begin with a period. A start that stands for a skipped local time counts as that
 * time: it is the earliest of the local times that have this instant.
 */
export function endOfMonths(start: number, months: number, zone: string): number {
  const candidates = [start - DAY_MS, start, start + DAY_MS]
    .map((near) => start + wallClock(near, zone) - near)
    .filter((wall) => instantOf(wall, zone) === start);
  const wall = candidates.length > 0 ? Math.min(...candidates) : wallClock(start, zone);
  return instantOf(addOnWall(wall, 'month', months), zone);
}

function addOnWall(wall: number, interval: Interval, count: number): number {
  if (interval === 'week') return wall + count * 7 * DAY_MS;
  const date = new Date(wall);
  const months = date.getUTCMonth() + (interval === 'month' ? count : 12 * count);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), months + 1, 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), lastDay);
  return Date.UTC(date.getUTCFullYear(), months, day) + (((wall % DAY_MS) + DAY_MS) % DAY_MS);
}

function calendarStart(wall: number, interval: Interval): number {
  const date = new Date(wall);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (interval) {
    case 'week':
      return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7));
    case 'month':
      return Date.UTC(year, month, 1);
    case 'year':
      return Date.UTC(year, 0, 1);
  }
}
