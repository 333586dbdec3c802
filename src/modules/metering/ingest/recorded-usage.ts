import type { LateUsage } from '../domain/late-usage';

/** Row returned by the statement that stores usage on the slow path. PostgreSQL returns `late` as JSON. */
export interface RecordedUsage {
  readonly accepted: number;
  readonly late: readonly {
    readonly streamId: string;
    readonly billedId: string;
    readonly meterId: string;
    readonly startMs: number;
    readonly endMs: number;
    readonly events: number;
  }[];
}

/**
 * Converts the `late` rows of the statement.
 * @param customers customer ids by stream id
 */
export function toLateUsage(
  { late }: RecordedUsage,
  customers: ReadonlyMap<string, string>,
): LateUsage[] {
  return late.map(({ streamId, billedId, meterId, startMs, endMs, events }) => ({
    billedId,
    customerId: customers.get(streamId) ?? '',
    meterId,
    period: { startAt: new Date(startMs), endAt: new Date(endMs) },
    events,
  }));
}
