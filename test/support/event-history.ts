import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../src/platform/database';
import { EVENTS } from './stored-events';

type Fields = Readonly<Record<string, unknown>>;

interface StoredEvent {
  readonly type: string;
  readonly object_id: string;
  readonly sequence: number;
  readonly data: { readonly object: Fields; readonly previous: Fields };
}

/** Fields that change without an event of their object, by the first part of the event type: see `docs/webhooks.md`. */
const CHANGE_WITHOUT_EVENT: Readonly<Record<string, readonly string[]>> = {
  api_key: ['last_used_at'],
  coupon: ['times_redeemed', 'applied_amount', 'remaining_amount', 'ends_at', 'ended_at'],
  entitlement: ['remaining'],
  invoice: ['amount_credited', 'amount_remaining', 'next_attempt_at'],
  meter: ['backfill'],
  payment: ['amount_refund_pending'],
  reconciliation: ['charges_listed', 'refunds_listed', 'differences_found', 'failure_code'],
};

/** Events that report something else than a change of the object that they contain. */
const REPORTS = ['entitlement.threshold_reached', 'entitlement.limit_reached', 'usage.late'];

/**
 * Throws if an object differs between two of its events. The object of an event with the values of `previous` must
 * equal the object of the event before it, so that a receiver can follow each change.
 */
export async function assertEventsFollow(database: Database): Promise<void> {
  const events = await database.query<StoredEvent>(
    `SELECT type, object_id, sequence, data FROM ${EVENTS} ORDER BY object_id, sequence`,
  );
  const differences = events.flatMap((event, index) => {
    const last = events[index - 1];
    const isNext = last?.object_id === event.object_id && last.sequence + 1 === event.sequence;
    return isNext ? differencesBetween(last, event) : [];
  });
  if (differences.length > 0) {
    throw new Error(`Objects changed without an event:\n${differences.slice(0, 20).join('\n')}`);
  }
}

function differencesBetween(last: StoredEvent, { type, object_id, data }: StoredEvent): string[] {
  // Several events of one change show the same object.
  if (REPORTS.includes(type) || isDeepStrictEqual(data.object, last.data.object)) return [];
  const before: Fields = { ...data.object, ...data.previous };
  const ignored = [...(CHANGE_WITHOUT_EVENT[type.split('.')[0] ?? ''] ?? []), 'updated_at'];
  return Object.keys({ ...before, ...last.data.object })
    .filter((name) => !ignored.includes(name))
    .filter((name) => !isDeepStrictEqual(before[name], last.data.object[name]))
    .map(
      (name) =>
        `${object_id}, ${name}: ${JSON.stringify(last.data.object[name])} after ${last.type}, ` +
        `but ${JSON.stringify(before[name])} before ${type}`,
    );
}
