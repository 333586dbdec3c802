import type { TestApp } from './test-app';

export interface StoredUsage {
  readonly customerId: string;
  readonly eventName: string;
  readonly events: number;
  /** The events are spread over this many hours from 2026-02-01. */
  readonly hours: number;
}

/**
 * Inserts many events as ingest would have stored them. Their keys are `<customer>-<event name>-<number>`; they have a
 * `value` of 1 to 7, one of three models and one of 50 users. Returns the id of the stream.
 */
export async function insertUsage(
  { database }: Pick<TestApp, 'database'>,
  { customerId, eventName, events, hours }: StoredUsage,
): Promise<string> {
  const [stream] = await database.query<{ id: string }>(
    `INSERT INTO usage_stream (customer_id, event_name, last_position) VALUES ($1, $2, $3) RETURNING id`,
    [customerId, eventName, events],
  );
  const id = stream?.id ?? '';
  await database.query(
    `INSERT INTO usage_event (key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties)
     SELECT encode(substring(sha256(convert_to(key, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid, $1, n, at, at, key,
       jsonb_build_object('value', n % 7 + 1, 'model', 'model-' || n % 3, 'user', 'user-' || n % 50)
     FROM generate_series(1, $2::int) AS n CROSS JOIN LATERAL (
       SELECT $3 || '-' || $4 || '-' || n AS key,
         timestamptz '2026-02-01T00:00:00Z' + n * ($5::int * interval '1 hour') / ($2::int + 1) AS at
     ) AS made`,
    [id, events, customerId, eventName, hours],
  );
  return id;
}
