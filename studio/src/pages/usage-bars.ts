import type { Schemas } from '../api/client';
import type { Bar } from '../ui/chart';

const HOUR_MS = 3_600_000;

export type UsageWindow = 'hour' | 'day';

/** Ranges of a usage chart. Each bar shows one window: an hour or a day. `count` is the number of windows up to now. */
export const USAGE_RANGES: readonly (readonly [UsageWindow, label: string, count: number])[] = [
  ['day', '31 days, by day', 31],
  ['hour', '24 hours, by hour', 24],
];

const MS_OF: Readonly<Record<UsageWindow, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS };

/** Returns the range of the last `count` windows in UTC. The last window contains the instant `now`. */
export function windowsUntil(
  now: string,
  window: UsageWindow,
  count: number,
): { readonly from: string; readonly to: string } {
  const size = MS_OF[window];
  const to = (Math.floor(Date.parse(now) / size) + 1) * size;
  return { from: new Date(to - count * size).toISOString(), to: new Date(to).toISOString() };
}

/** Returns the range of a usage chart. Its last window contains the instant `now`. */
export const rangeUntil = (now: string, window: UsageWindow): ReturnType<typeof windowsUntil> =>
  windowsUntil(now, window, USAGE_RANGES.find(([value]) => value === window)?.[2] ?? 1);

function keyOf(instant: string, window: UsageWindow): string {
  return window === 'day'
    ? instant.slice(0, 10)
    : `${instant.slice(0, 10)} ${instant.slice(11, 13)}:00`;
}

/** Returns the properties by which the usage of a meter can be stacked: the sum of its groups must be the usage of all. */
export const stackableBy = ({ aggregation, group_by }: Schemas['MeterDto']): readonly string[] =>
  aggregation === 'sum' || aggregation === 'count' ? group_by : [];

const REST = 'all others';
const NO_VALUE = 'none';

/** Returns the value of a property as text. Puts it in quotes if it could be confused with the name of another series. */
function showValue(value: unknown): string {
  if (typeof value !== 'string') return NO_VALUE;
  const isTaken = [REST, NO_VALUE, ''].includes(value) || /^"|, /.test(value);
  return isTaken ? JSON.stringify(value) : value;
}

/** Returns the name of the series of a group; different groups have different names. */
function seriesOf(group: object | null | undefined): string {
  if (group === null) return REST;
  const values = Object.values(group ?? {}).map(showValue);
  return values.length === 0 ? 'all' : values.join(', ');
}

/**
 * Returns a bar for each window between the two instants; windows without usage have no parts.
 * @param values values of windows of UTC
 */
export function barsOf(
  values: readonly Schemas['TotalInWindowDto'][],
  range: { readonly from: string; readonly to: string },
  window: UsageWindow,
): readonly Bar[] {
  const partsByKey = new Map<string, Map<string, number>>();
  for (let at = Date.parse(range.from); at < Date.parse(range.to); at += MS_OF[window]) {
    partsByKey.set(keyOf(new Date(at).toISOString(), window), new Map());
  }
  for (const { window_start, value, group } of values) {
    partsByKey.get(keyOf(window_start, window))?.set(seriesOf(group), Number(value));
  }
  return [...partsByKey].map(([key, parts]) => ({
    key,
    label: window === 'day' ? key.slice(5) : key.slice(11),
    parts,
  }));
}
