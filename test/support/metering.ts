import type { Client } from 'pg';
import { LATE_EVENTS } from '../../src/modules/meters/domain/meter';
import { newId } from '../../src/platform/ids';
import type { TestApp } from './test-app';

export { createCustomer } from './billing';

export interface TestMeter {
  readonly eventName?: string;
  readonly aggregation?: string;
  readonly valueProperty?: string | null;
  readonly filters?: readonly { readonly property: string; readonly in: readonly string[] }[];
  readonly groupBy?: readonly string[];
  readonly lateEvents?: (typeof LATE_EVENTS)[number];
}

/** Inserts a meter for which no events are stored yet. */
export async function insertMeter(engine: TestApp, meter: TestMeter = {}): Promise<string> {
  const id = newId('meter');
  const aggregation = meter.aggregation ?? 'count';
  await engine.database.query(
    `INSERT INTO meter (id, version, key, name, event_name, aggregation, value_property, filters, group_by, late_events,
       is_recurring, metadata, created_at, updated_at)
     VALUES ($1, 1, $1, 'Meter', $2, $3, $4, $5, $6, $7, false, '{}', $8, $8)`,
    [
      id,
      meter.eventName ?? 'api_request',
      aggregation,
      meter.valueProperty ?? (aggregation === 'count' ? null : 'amount'),
      JSON.stringify(meter.filters ?? []),
      JSON.stringify(meter.groupBy ?? []),
      meter.lateEvents ?? LATE_EVENTS[0],
      engine.clock.now(),
    ],
  );
  return id;
}

export interface Bucket {
  readonly start: string;
  readonly group: string;
  readonly events: number;
  readonly total: string;
  readonly greatest: string | null;
  readonly latest: string | null;
  readonly held: string;
  readonly distinct: number;
}

/** Returns the running totals of a meter for each hour and group of events. */
export function bucketsOf(engine: TestApp, meterId: string): Promise<readonly Bucket[]> {
  return engine.database.query<Bucket>(
    `SELECT to_char(start_at, 'YYYY-MM-DD HH24:MI') AS start, group_key AS "group", events::int,
       trim_scale(total)::text AS total, trim_scale(greatest)::text AS greatest, trim_scale(latest)::text AS latest,
       trim_scale(held_ms)::text AS held, distinct_values::int AS "distinct"
     FROM usage_bucket WHERE meter_id = $1 ORDER BY start_at, end_at, group_key`,
    [meterId],
  );
}

/** Returns how many NDJSON bodies have lines in a temporary table. */
export async function stagedBodies(monitor: Client): Promise<number> {
  const { rows } = await monitor.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_class WHERE relname = 'usage_staged'`,
  );
  return rows[0]?.count ?? 0;
}

type ReportedEvents = Readonly<Record<'accepted' | 'duplicates' | 'rejected', number>>;

/** Returns how many events of a customer were stored, and how many were refused as duplicates or as invalid. */
export async function reportedOf(
  engine: TestApp,
  customerId: string,
): Promise<ReportedEvents | undefined> {
  const [row] = await engine.database.query<ReportedEvents>(
    `SELECT sum((SELECT count(*) FROM usage_event WHERE stream_id = stream.id))::int AS accepted,
       sum(tally.duplicates)::int AS duplicates, sum(tally.rejected)::int AS rejected
     FROM usage_stream AS stream CROSS JOIN LATERAL (
       SELECT sum(duplicates) AS duplicates, sum(rejected) AS rejected FROM usage_tally WHERE stream_id = stream.id
     ) AS tally
     WHERE customer_id = $1`,
    [customerId],
  );
  return row;
}

export interface SentEvent {
  readonly idempotency_key: string;
  readonly customer_id: string;
  readonly event_name: string;
  readonly timestamp: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Usage to report: its time, and its properties `n` and `model`. */
export type SentUsage = readonly [timestamp: string, n: number, model: string | null];

let reported = 0;

/**
 * Reports events in one request, and fails the test if one is not accepted. Returns the idempotency key of the last
 * event.
 */
export async function reportUsage(
  engine: TestApp,
  customer: string,
  name: string,
  usage: readonly SentUsage[],
): Promise<string> {
  const events = usage.map(([timestamp, n, model]): SentEvent => {
    reported += 1;
    return {
      idempotency_key: `usage-${reported}`,
      customer_id: customer,
      event_name: name,
      timestamp,
      properties: { n, model },
    };
  });
  const { body } = await engine.http.post('/v1/usage-events').send({ events });
  expect(body).toMatchObject({ accepted: events.length, rejected: [] });
  return events.at(-1)?.idempotency_key ?? '';
}
