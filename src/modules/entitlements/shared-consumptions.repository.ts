import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { ingestSlotOf, isOnlyIn, joinedAppend, lockedStreams, usageKeyDigest } from '../metering';
import { BALANCE_COLUMNS, type RawBalanceRow, toBalanceRecord } from './balance-rows';
import { windowEnd } from './balance-windows.repository';
import { type ConsumptionTarget, INTO_ANSWERS } from './consumptions.repository';
import { toNumeric } from './decimal-column';
import type { ConsumptionDecision } from './domain/consumption';
import type { BalanceRecord } from './domain/customer-entitlement';
import type { ConsumptionEvent } from './metered-usage.service';

/** A balance to lock. */
export interface SharedTarget extends ConsumptionTarget {
  /** Name of the events that the meter of the entitlement counts; null without a meter. */
  readonly eventName: string | null;
}

/** A locked balance, with the locked stream of its meter. */
export interface SharedBalance {
  readonly record: BalanceRecord;
  readonly stream: { readonly id: string; readonly lastPosition: string } | null;
}

/** Decided requests of a balance: their answers, and what the allowed ones count. */
export interface SharedWrite {
  readonly record: BalanceRecord;
  /** Balance with its new usage; null if no request is allowed. */
  readonly after: BalanceRecord | null;
  readonly stream: SharedBalance['stream'];
  readonly decisions: readonly ConsumptionDecision[];
  /** Events of the allowed requests; none without a meter. */
  readonly events: readonly ConsumptionEvent[];
}

interface LockedRow extends RawBalanceRow {
  readonly number: string;
  readonly stream_id: string | null;
  readonly last_position: string | null;
}

/** Another balance of the customer counts by the same window, so that its usage would have to be written as well. */
const IS_SHARED_WINDOW = `
  EXISTS (
    SELECT FROM customer_entitlement AS other JOIN entitlement ON entitlement.id = other.entitlement_id
    WHERE other.customer_id = h.customer_id AND other.id <> h.id AND entitlement.meter_id = e.meter_id
      AND other.window_start_at = h.window_start_at
      AND other.window_end_at IS NOT DISTINCT FROM h.window_end_at
  )`;

/**
 * Locks streams, then balances, both in ascending order. Skips balances that another transaction has locked, that must be
 * recalculated, whose customer is on a test clock or being deleted, and those of which an event changes more than the balance.
 * The conditions on the ids of the customers keep the cached plan from reading whole tables.
 *
 * Parameters: $1 customers, $2 keys, $3 event names, $4 slots of the event names, $5 the current time.
 */
const LOCK = `
  WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[]) WITH ORDINALITY
      AS asked (customer_id, key, event_name, slot, number)
  ),
  ${lockedStreams('$1')}
  SELECT asked.number, stream.id AS stream_id, stream.last_position, e.key, e.type, e.meter_id, e.thresholds,
    ${BALANCE_COLUMNS}
  FROM asked
  JOIN customer c ON c.id = asked.customer_id
  JOIN customer_access a ON a.customer_id = asked.customer_id
  JOIN entitlement e ON e.key = asked.key
  JOIN customer_entitlement h ON h.customer_id = asked.customer_id AND h.entitlement_id = e.id
    AND h.access_version = a.version AND h.rules_version = e.rules_version
  LEFT JOIN stream ON stream.customer_id = asked.customer_id AND stream.event_name = asked.event_name
  WHERE c.id = ANY ($1::text[]) AND a.customer_id = ANY ($1::text[]) AND h.customer_id = ANY ($1::text[])
    AND h.test_clock_id IS NULL AND (h.valid_until IS NULL OR h.valid_until > $5::timestamptz)
    AND CASE WHEN e.meter_id IS NULL THEN asked.event_name IS NULL ELSE
      stream.id IS NOT NULL
      AND ${isOnlyIn('$5', {
        meterId: 'e.meter_id',
        startAt: 'h.window_start_at',
        endAt: windowEnd('h.window_end_at'),
      })}
      AND NOT ${IS_SHARED_WINDOW}
    END
  ORDER BY h.id
  FOR NO KEY UPDATE OF h SKIP LOCKED FOR KEY SHARE OF c SKIP LOCKED`;

/**
 * Stores answers and events, and updates balances and the totals of usage. Answers and events whose key exists are not stored:
 * the result tells how many were.
 *
 * Parameters: $1 the current time; for each answer $2 customer, $3 entitlement, $4 key, $5 quantity, $6 answer, as one JSON
 * list; for each balance $7 id, $8 and $9 usage, $10 thresholds; for each event $11 stream, $12 position, $13 key digest,
 * $14 key, $15 properties, as one JSON list; $16 ids of the streams.
 */
const WRITE = `
  WITH answered AS (
    ${INTO_ANSWERS}
    SELECT customer_id, entitlement_id, idempotency_key, quantity, answer, $1::timestamptz
    FROM ROWS FROM (
      unnest($2::text[], $3::text[], $4::text[], $5::numeric[]), jsonb_array_elements($6::jsonb)
    ) AS new (customer_id, entitlement_id, idempotency_key, quantity, answer)
    ORDER BY customer_id COLLATE "C", entitlement_id COLLATE "C", idempotency_key COLLATE "C"
    ON CONFLICT DO NOTHING
    RETURNING 1
  ),
  used AS (
    UPDATE customer_entitlement AS h
    SET used = c.used, covered = c.covered, told = c.told, updated_at = $1::timestamptz, version = h.version + 1
    FROM unnest($7::text[], $8::numeric[], $9::numeric[], $10::jsonb[]) AS c (id, used, covered, told)
    WHERE h.id = c.id AND h.id = ANY ($7::text[])
  ),
  ${joinedAppend(
    `ROWS FROM (
      unnest($11::bigint[], $12::bigint[], $13::uuid[], $14::text[]), jsonb_array_elements($15::jsonb)
    ) AS new (stream_id, position, key_digest, idempotency_key, properties)`,
    '$1',
    '$16',
  )}
  SELECT (SELECT count(*) FROM answered)::int AS answers, (SELECT count(*) FROM fresh)::int AS events`;

/** Locks and writes balances of many customers, with one statement each. */
@Injectable()
export class SharedConsumptionsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns the current balance of each target, locked until the transaction ends with the stream of its meter; undefined for
   * one that is to be consumed alone. Never waits.
   */
  async lock(
    targets: readonly SharedTarget[],
    now: Date,
  ): Promise<readonly (SharedBalance | undefined)[]> {
    this.database.requireTransaction();
    const rows = await this.database.prepared<LockedRow>('consumptions-lock', LOCK, [
      targets.map(({ customerId }) => customerId),
      targets.map(({ key }) => key),
      targets.map(({ eventName }) => eventName),
      targets.map(({ eventName }) => (eventName === null ? null : ingestSlotOf(eventName))),
      now,
    ]);
    const found = new Map(rows.map((row) => [Number(row.number), row]));
    return targets.map((_, index) => {
      const row = found.get(index + 1);
      return row === undefined ? undefined : toSharedBalance(row);
    });
  }

  /** Writes answers, usage and events. Returns false if a key was used before: the transaction must then not commit. */
  async write(written: readonly SharedWrite[], now: Date): Promise<boolean> {
    this.database.requireTransaction();
    const answers = written.flatMap(({ record: { row }, decisions }) =>
      decisions.map((decision) => ({ row, ...decision })),
    );
    const balances = written.flatMap(({ after }) => after?.row ?? []);
    const events = written.flatMap(({ stream, events: ofBalance }) =>
      stream === null
        ? []
        : ofBalance.map((event, index) => ({
            ...event,
            streamId: stream.id,
            position: BigInt(stream.lastPosition) + BigInt(index + 1),
          })),
    );
    const [stored] = await this.database.prepared<{ answers: number; events: number }>(
      'consumptions-write',
      WRITE,
      [
        now,
        answers.map(({ row }) => row.customerId),
        answers.map(({ row }) => row.entitlementId),
        answers.map(({ idempotencyKey }) => idempotencyKey),
        answers.map(({ quantity }) => toNumeric(quantity)),
        JSON.stringify(answers.map(({ answer }) => answer)),
        balances.map(({ id }) => id),
        balances.map(({ used }) => toNumeric(used)),
        balances.map(({ planUsage }) => toNumeric(planUsage)),
        balances.map(({ notifiedThresholds }) => JSON.stringify(notifiedThresholds)),
        events.map(({ streamId }) => streamId),
        events.map(({ position }) => position),
        events.map(({ idempotencyKey }) => usageKeyDigest(idempotencyKey)),
        events.map(({ idempotencyKey }) => idempotencyKey),
        JSON.stringify(events.map(({ properties }) => properties)),
        [...new Set(events.map(({ streamId }) => streamId))],
      ],
    );
    return stored?.answers === answers.length && stored.events === events.length;
  }
}

function toSharedBalance(row: LockedRow): SharedBalance {
  const { stream_id: id, last_position: lastPosition } = row;
  const stream = id === null || lastPosition === null ? null : { id, lastPosition };
  return { record: toBalanceRecord(row), stream };
}
