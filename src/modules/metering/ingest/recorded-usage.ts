import type { LateUsage } from '../domain/late-usage';

/** Row of the statement that stores usage in a transaction. `late` is the usage of periods that were already billed. */
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

/** @param customers customer ids by stream id */
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
