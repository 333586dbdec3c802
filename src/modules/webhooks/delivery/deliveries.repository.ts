import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../../platform/database';
import type { Attempt, Delivery, DeliveryStatus } from './domain/delivery';
import { WebhookAttemptEntity } from './webhook-attempt.entity';
import { WebhookDeliveryEntity } from './webhook-delivery.entity';

/** A delivery that this process may attempt until its lease ends. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  /** Attempts that have ended before. */
  readonly attempts: number;
  readonly fence: number;
}

/** How many deliveries an endpoint may be given now. */
export interface Capacity {
  readonly endpointId: string;
  readonly free: number;
  readonly ordered: boolean;
}

/** An attempt that ended, and what it makes of its delivery. */
export interface AttemptResult {
  readonly delivery: ClaimedDelivery;
  readonly attempt: Attempt;
  readonly status: DeliveryStatus;
  readonly dueAt: Date | null;
}

export interface NumberedAttempt extends Attempt {
  readonly number: number;
}

/**
 * Only for endpoints that are still there: one that is being deleted waits for these rows, and discards them, or they are
 * not made.
 */
const INSERT = `
  INSERT INTO webhook_delivery
    (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, due_at, created_at, updated_at)
  SELECT made.id, made.endpoint_id, event_id, event_type, object_id, sequence, $7, 'pending', $8, $8, $8
  FROM unnest($1::varchar[], $2::varchar[], $3::varchar[], $4::varchar[], $5::varchar[], $6::integer[])
    AS made (id, endpoint_id, event_id, event_type, object_id, sequence)
  JOIN webhook_endpoint AS endpoint ON endpoint.id = made.endpoint_id
  WHERE endpoint.deleted_at IS NULL AND endpoint.is_active
  FOR KEY SHARE OF endpoint`;

const TAKE = `
  UPDATE webhook_delivery AS delivery SET due_at = $2, fence = delivery.fence + 1
  FROM claimed WHERE delivery.id = claimed.id
  RETURNING delivery.id, delivery.endpoint_id, delivery.event_id, delivery.attempts, delivery.fence`;

/** Takes for each endpoint what it has room for, the longest due first. */
const CLAIM = `
  WITH claimed AS (
    SELECT due.id FROM unnest($3::varchar[], $4::integer[]) AS endpoint (id, free)
    CROSS JOIN LATERAL (
      SELECT delivery.id FROM webhook_delivery AS delivery
      WHERE delivery.endpoint_id = endpoint.id AND delivery.status = 'pending' AND delivery.due_at <= $1
      ORDER BY delivery.due_at LIMIT endpoint.free FOR UPDATE OF delivery SKIP LOCKED
    ) AS due
  )${TAKE}`;

/**
 * Takes the first waiting delivery of each object, and none whose forerunner is still to be turned into a delivery. Goes
 * from object to object along the index, so that a long queue of one object costs no more than a short one.
 */
const CLAIM_ORDERED = `
  WITH RECURSIVE head AS (
    (SELECT id, object_id, sequence, due_at FROM webhook_delivery
      WHERE endpoint_id = $3 AND status = 'pending' ORDER BY object_id, sequence, id LIMIT 1)
    UNION ALL
    SELECT next.id, next.object_id, next.sequence, next.due_at
    FROM head CROSS JOIN LATERAL (
      SELECT id, object_id, sequence, due_at FROM webhook_delivery
      WHERE endpoint_id = $3 AND status = 'pending' AND object_id > head.object_id
      ORDER BY object_id, sequence, id LIMIT 1
    ) AS next
  ), claimed AS (
    SELECT delivery.id FROM head JOIN webhook_delivery AS delivery ON delivery.id = head.id
    WHERE head.due_at <= $1 AND delivery.status = 'pending' AND delivery.due_at <= $1
      AND NOT EXISTS (
        SELECT FROM event
        WHERE event.object_id = head.object_id AND event.sequence < head.sequence
          AND event.dispatched_at IS NULL)
    LIMIT $4 FOR UPDATE OF delivery SKIP LOCKED
  )${TAKE}`;

/**
 * A result counts only for the claim it was made under: one that was frozen past its lease comes too late. What the
 * results say of their endpoints is noted with them: one success ends a time of failures.
 */
const RECORD = `
  WITH result AS (
    SELECT * FROM unnest(
      $1::varchar[], $2::integer[], $3::varchar[], $4::timestamptz[], $5::timestamptz[], $6::integer[],
      $7::smallint[], $8::varchar[], $9::text[]
    ) AS result (id, fence, status, due_at, started_at, duration_ms, status_code, error, response_start)
  ), written AS (
    UPDATE webhook_delivery AS delivery
    SET status = result.status, due_at = result.due_at, attempts = delivery.attempts + 1, updated_at = $10
    FROM result
    WHERE delivery.id = result.id AND delivery.fence = result.fence AND delivery.status = 'pending'
    RETURNING delivery.id, delivery.attempts, delivery.endpoint_id, delivery.status
  ), health AS (
    SELECT endpoint_id, bool_or(status = 'succeeded') AS works FROM written GROUP BY endpoint_id
  ), working AS (
    DELETE FROM webhook_failure USING health
    WHERE webhook_failure.endpoint_id = health.endpoint_id AND health.works
  ), failing AS (
    INSERT INTO webhook_failure (endpoint_id, since)
    SELECT endpoint_id, $10 FROM health WHERE NOT works ON CONFLICT (endpoint_id) DO NOTHING
  )
  INSERT INTO webhook_attempt
    (delivery_id, number, started_at, duration_ms, status_code, error, response_start)
  SELECT written.id, written.attempts, result.started_at, result.duration_ms, result.status_code,
    result.error, result.response_start
  FROM written JOIN result ON result.id = written.id
  RETURNING delivery_id`;

const DISCARD = `
  UPDATE webhook_delivery SET status = 'discarded', due_at = NULL, updated_at = $2
  WHERE endpoint_id = $1 AND status = 'pending'`;

interface ClaimRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly attempts: number;
  readonly fence: number;
}

@Injectable()
export class DeliveriesRepository {
  constructor(private readonly database: Database) {}

  /** Writes new deliveries of one kind, due at once. */
  async insert(deliveries: readonly Delivery[]): Promise<void> {
    const [first] = deliveries;
    if (first === undefined) return;
    await this.database.query(INSERT, [
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ eventType }) => eventType),
      deliveries.map(({ objectId }) => objectId),
      deliveries.map(({ sequence }) => sequence),
      first.kind,
      first.createdAt,
    ]);
  }

  /** Deliveries that are due, leased to the caller. */
  async claim(
    now: Date,
    leaseEndsAt: Date,
    capacities: readonly Capacity[],
  ): Promise<readonly ClaimedDelivery[]> {
    const unordered = capacities.filter(({ ordered }) => !ordered);
    const claimed: ClaimRow[] = [];
    if (unordered.length > 0) {
      const ids = unordered.map(({ endpointId }) => endpointId);
      const free = unordered.map((capacity) => capacity.free);
      const rows = await this.database.query<ClaimRow>(CLAIM, [now, leaseEndsAt, ids, free]);
      claimed.push(...rows);
    }
    for (const { endpointId, free } of capacities.filter(({ ordered }) => ordered)) {
      const parameters = [now, leaseEndsAt, endpointId, free];
      claimed.push(...(await this.database.query<ClaimRow>(CLAIM_ORDERED, parameters)));
    }
    return claimed.map(toClaimed);
  }

  /** Writes attempts that ended; returns the ids of the deliveries whose result still counted. */
  async record(results: readonly AttemptResult[], now: Date): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ delivery_id: string }>(RECORD, [
      results.map(({ delivery }) => delivery.id),
      results.map(({ delivery }) => delivery.fence),
      results.map(({ status }) => status),
      results.map(({ dueAt }) => dueAt),
      results.map(({ attempt }) => attempt.startedAt),
      results.map(({ attempt }) => attempt.durationMs),
      results.map(({ attempt }) => attempt.statusCode),
      results.map(({ attempt }) => attempt.error),
      results.map(({ attempt }) => attempt.responseStart),
      now,
    ]);
    return new Set(rows.map((row) => row.delivery_id));
  }

  /** Ends what is on its way to an endpoint that is gone. */
  async discardPending(endpointId: string, now: Date): Promise<void> {
    await this.database.query(DISCARD, [endpointId, now]);
  }

  find(id: string): Promise<Delivery | null> {
    return this.deliveries.findOneBy({ id });
  }

  attemptsOf(deliveryId: string): Promise<readonly NumberedAttempt[]> {
    return this.database
      .repository(WebhookAttemptEntity)
      .find({ where: { deliveryId }, order: { number: 'ASC' } });
  }

  page(
    endpointId: string,
    status: DeliveryStatus | null,
    request: PageRequest,
  ): Promise<Page<Delivery>> {
    const query = this.deliveries
      .createQueryBuilder('delivery')
      .where('delivery.endpointId = :endpointId', { endpointId });
    if (status !== null) query.andWhere('delivery.status = :status', { status });
    return pageById(query, request);
  }

  private get deliveries() {
    return this.database.repository(WebhookDeliveryEntity);
  }
}

function toClaimed(row: ClaimRow): ClaimedDelivery {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    attempts: row.attempts,
    fence: row.fence,
  };
}
