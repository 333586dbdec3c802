/** A calendar month in UTC, as the bounds of a partition. */
export interface PartitionMonth {
  /** Year and month, such as `2026_03`. */
  readonly suffix: string;
  /** Start, inclusive. */
  readonly from: string;
  /** End, exclusive. */
  readonly to: string;
}

export function monthsFrom(now: Date, count: number): readonly PartitionMonth[] {
  return Array.from({ length: count }, (_, index) => {
    const start = monthAfter(now, index);
    return {
      suffix: suffixOf(start),
      from: start.toISOString(),
      to: monthAfter(now, index + 1).toISOString(),
    };
  });
}

/** Returns the suffix of the oldest month to keep: `count` months before the current one. */
export function oldestKept(now: Date, count: number): string {
  return suffixOf(monthAfter(now, -count));
}

/** Returns the first instant to keep: the start of the month that is `count` months before the current one. */
export function keptFrom(now: Date, count: number): Date {
  return monthAfter(now, -count);
}

function suffixOf(start: Date): string {
  return start.toISOString().slice(0, 7).replace('-', '_');
}

function monthAfter(now: Date, months: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
}
