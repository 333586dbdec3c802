import type { LateUsage } from '../domain/late-usage';

/** What the statement that stores usage tells, as JSON of the database. */
export interface Recorded {
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

/** @param customers by stream */
export function toLateUsage(
  { late }: Recorded,
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
