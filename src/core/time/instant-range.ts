/** Earliest instant that requests accept. */
export const BEGINNING = new Date('0001-01-01T00:00:00.000Z');

/** Range of instants: `from` inclusive, `to` exclusive. A null end has no limit. */
export interface InstantRange {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Returns the earliest instant, ignoring nulls; null if there is none. */
export function earliest(instants: readonly (Date | null)[]): Date | null {
  return instants.reduce<Date | null>(
    (first, one) => (one === null || (first !== null && first <= one) ? first : one),
    null,
  );
}
