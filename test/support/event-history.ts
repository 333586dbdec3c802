import { isDeepStrictEqual } from 'node:util';
import type TestAgent from 'supertest/lib/agent';
import type { Database } from '../../src/platform/database';
import { EVENTS } from './stored-events';

type Fields = Readonly<Record<string, unknown>>;

interface StoredEvent {
  readonly type: string;
  readonly object_id: string;
  readonly sequence: number;
  readonly data: { readonly object: Fields; readonly previous: Fields };
}

/**
 * Fields that can change although no event reports it. The keys are the first parts of event types. See
 * `docs/webhooks.md`.
 */
const CHANGE_WITHOUT_EVENT: Readonly<Record<string, readonly string[]>> = {
  api_key: ['last_used_at'],
  coupon: ['times_redeemed', 'applied_amount', 'remaining_amount', 'ends_at', 'ended_at'],
  entitlement: ['remaining'],
  invoice: ['next_attempt_at'],
  meter: ['backfill'],
  payment: ['amount_refund_pending'],
  reconciliation: [
    'charges_listed',
    'refunds_listed',
    'differences_found',
    'is_truncated',
    'failure_code',
  ],
};

/** Paths of the lists of objects that have events and can be read by id. The keys are the prefixes of the ids. */
const LISTS: Readonly<Record<string, string>> = {
  addon: 'addons',
  aent: 'addon-entitlements',
  cn: 'credit-notes',
  coup: 'coupons',
  cus: 'customers',
  dsp: 'disputes',
  ent: 'entitlements',
  inv: 'invoices',
  meter: 'meters',
  pay: 'payments',
  plan: 'plans',
  rcon: 'reconciliations',
  ref: 'refunds',
  sub: 'subscriptions',
  txr: 'tax-rates',
};

/** Maximum number of objects that are read for each test application. */
const MOST_READ = 200;

const LAST_EVENTS = `
  SELECT * FROM (
    SELECT DISTINCT ON (object_id) type, object_id, sequence, data FROM ${EVENTS}
    WHERE split_part(object_id, '_', 1) = ANY ($1) ORDER BY object_id, sequence DESC) AS last
  WHERE data #>> '{object,id}' = object_id ORDER BY md5(object_id) LIMIT $2`;

const HAS_LATER = `SELECT FROM event WHERE object_id = $1 AND sequence > $2`;

/** Types of events that contain an object but do not report a change of it. */
const REPORTS = ['entitlement.threshold_reached', 'entitlement.limit_reached', 'usage.late'];

/**
 * Throws if an object changed without an event, so that receivers of events could not follow it. In each event, the
 * object with the values of `previous` must equal the object in the event before.
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

/** Throws if an object, as the API shows it, differs from the object in its last event. Checks only some of the objects. */
export async function assertLastEventsAreCurrent(
  database: Database,
  http: Pick<TestAgent, 'get'>,
): Promise<void> {
  const events = await database.query<StoredEvent>(LAST_EVENTS, [Object.keys(LISTS), MOST_READ]);
  for (const { type, object_id, sequence, data } of events) {
    const list = LISTS[object_id.split('_')[0] ?? ''] ?? '';
    const { status, body } = await http.get(`/v1/${list}/${object_id}`);
    if (status !== 200) continue;
    const object = body as Fields;
    const ignored = ignoredOf(type);
    const names = Object.keys({ ...data.object, ...object })
      .filter((name) => !ignored.includes(name))
      .filter((name) => !isDeepStrictEqual(data.object[name], object[name]));
    if (names.length > 0 && (await database.query(HAS_LATER, [object_id, sequence])).length === 0) {
      throw new Error(`${names.join(', ')} of ${object_id} changed after its last event, ${type}`);
    }
  }
}

/** Returns the fields of an object that may change without an event, and `updated_at`, which changes with them. */
function ignoredOf(type: string): readonly string[] {
  const names = CHANGE_WITHOUT_EVENT[type.split('.')[0] ?? ''] ?? [];
  return names.length === 0 ? [] : [...names, 'updated_at'];
}

function differencesBetween(last: StoredEvent, { type, object_id, data }: StoredEvent): string[] {
  // Several events of one change may contain the same object.
  if (REPORTS.includes(type) || isDeepStrictEqual(data.object, last.data.object)) return [];
  const before: Fields = { ...data.object, ...data.previous };
  const ignored = [...ignoredOf(type), 'updated_at'];
  return Object.keys({ ...before, ...last.data.object })
    .filter((name) => !ignored.includes(name))
    .filter((name) => !isDeepStrictEqual(before[name], last.data.object[name]))
    .map(
      (name) =>
        `${object_id}, ${name}: ${JSON.stringify(last.data.object[name])} after ${last.type}, ` +
        `but ${JSON.stringify(before[name])} before ${type}`,
    );
}
