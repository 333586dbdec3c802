/** A calendar month in UTC, as the bounds of a partition. */
export interface PartitionMonth {
  /** `2026_03`. */
  readonly suffix: string;
  /** First instant, inclusive. */
  readonly from: string;
  /** Last instant, exclusive. */
  readonly to: string;
}

/** Returns the current month and the months after it. */
export function monthsFrom(now: Date, count: number): readonly PartitionMonth[] {
  return Array.from({ length: count }, (_, index) => {
    const start = monthAfter(now, index);
    const from = start.toISOString();
    return {
      suffix: from.slice(0, 7).replace('-', '_'),
      from,
      to: monthAfter(now, index + 1).toISOString(),
    };
  });
}

function monthAfter(now: Date, months: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
}
