import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../../platform/database';
import type { WaitingRows } from '../../../platform/jobs';
import {
  type Attempt,
  type ClaimedDelivery,
  type Delivery,
  type DeliveryFilter,
  type DeliveryStatus,
  LONGEST_LEASE_MS,
} from './domain/delivery';
import { LONGEST_PAUSE_MS } from './domain/retry-schedule';
import { HeadsRepository, IS_PENDING, type ObjectKey } from './heads.repository';
import { IS_RECEIVING } from './receivers.repository';
import { WebhookAttemptEntity } from './webhook-attempt.entity';
import { WebhookDeliveryEntity } from './webhook-delivery.entity';

/**
 * Due deliveries to active endpoints. For an ordered endpoint, only the first pending delivery about each object
 * counts. While old deliveries to an endpoint are being discarded, only deliveries with higher ids count, because they
 * will be sent afterwards. The SQL reads one endpoint after the other, because the indexes begin with the endpoint.
 */
export const WAITING_DELIVERIES: WaitingRows = {
  table: `(
    SELECT delivery.due_at FROM webhook_endpoint AS endpoint CROSS JOIN LATERAL (
      (SELECT due_at FROM webhook_delivery
       WHERE NOT endpoint.ordered AND endpoint.discard_to IS NULL
         AND endpoint_id = endpoint.id AND status = 'pending' AND due_at <= now()
       ORDER BY due_at LIMIT 10000)
      UNION ALL
      (SELECT due_at FROM webhook_head
       WHERE endpoint.ordered AND endpoint.discard_to IS NULL AND endpoint_id = endpoint.id AND due_at <= now()
       ORDER BY due_at LIMIT 10000)
      UNION ALL
      (SELECT due_at FROM webhook_delivery
       WHERE endpoint.discard_to IS NOT NULL AND due_at <= now() AND (endpoint_id, status) <= (endpoint.id, 'pending')
         AND (endpoint_id, status, id) > (endpoint.id, 'pending', endpoint.discard_to)
       ORDER BY endpoint_id, status, id LIMIT 10000)) AS delivery
    WHERE endpoint.is_active AND endpoint.deleted_at IS NULL) AS delivery`,
  dueAt: 'due_at',
};

export interface Capacity {
  readonly endpointId: string;
  /** Number of deliveries that may be claimed now. */
  readonly free: number;
  readonly ordered: boolean;
}

export interface AttemptResult {
  readonly delivery: ClaimedDelivery;
  readonly attempt: Attempt;
  /**
   * False if no request was sent, because the data of the event is missing or damaged. The attempt then does not count
   * as a failure of the endpoint.
   */
  readonly isSent: boolean;
  readonly status: DeliveryStatus;
  /** Time of the next attempt; null: there is no further attempt. */
  readonly dueAt: Date | null;
}

export interface NumberedAttempt extends Attempt {
  readonly number: number;
}

/**
 * Inserts deliveries. For an ordered endpoint, also inserts or updates heads (rows of `webhook_head`). A head marks the
 * first pending delivery about one object.
 * - An inactive endpoint gets only deliveries of kind `event`, because it was active when these events were recorded.
 *   They wait until the endpoint is active again. An endpoint that was disabled after a 410 gets no deliveries.
 * - FOR KEY SHARE conflicts with the deletion of an endpoint. If the deletion comes later, it discards these
 *   deliveries. If it came first, nothing is inserted.
 * - ON CONFLICT DO UPDATE locks an existing head even if the head does not change.
 * - An attempt at a later event of the object may be in flight. The head is then due at the end of the lease, at the
 *   latest at `$9`. So a delivery that becomes the head in its place is not due earlier. A head that is due later has no
 *   lease: it waits for its next attempt.
 */
const INSERT = `
  WITH live AS MATERIALIZED (
    SELECT id, ordered FROM webhook_endpoint
    WHERE id = ANY ($2::varchar[]) AND deleted_at IS NULL
      AND (is_active OR $7 = 'event' AND disabled_reason IS DISTINCT FROM 'gone')
    FOR KEY SHARE
  ), made AS (
    INSERT INTO webhook_delivery
      (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, due_at, created_at, updated_at)
    SELECT made.id, made.endpoint_id, event_id, event_type, object_id, sequence, $7, 'pending', $8, $8, $8
    FROM unnest($1::varchar[], $2::varchar[], $3::varchar[], $4::varchar[], $5::varchar[], $6::integer[])
      AS made (id, endpoint_id, event_id, event_type, object_id, sequence)
    JOIN live ON live.id = made.endpoint_id
    RETURNING id, endpoint_id, object_id, sequence
  ), headed AS (
    INSERT INTO webhook_head AS head (endpoint_id, object_id, delivery_id, sequence, due_at)
    SELECT DISTINCT ON (made.endpoint_id, made.object_id)
      made.endpoint_id, made.object_id, made.id, made.sequence, $8
    FROM made JOIN live ON live.id = made.endpoint_id AND live.ordered
    ORDER BY made.endpoint_id, made.object_id, made.sequence, made.id
    ON CONFLICT (endpoint_id, object_id) DO UPDATE
      SET delivery_id = excluded.delivery_id, sequence = excluded.sequence,
        due_at = CASE WHEN head.due_at > $9 THEN excluded.due_at ELSE greatest(excluded.due_at, head.due_at) END
      WHERE (excluded.sequence, excluded.delivery_id) < (head.sequence, head.delivery_id)
  )
  SELECT count(*)::int AS made FROM made`;

/**
 * Claims due deliveries to unordered endpoints. Reads the endpoints again, because they may have been changed since
 * their free capacity was computed.
 */
const CLAIM = `
  WITH claimed AS (
    SELECT due.id, endpoint.url FROM unnest($3::varchar[], $4::integer[]) AS capacity (endpoint_id, free)
    JOIN webhook_endpoint AS endpoint ON endpoint.id = capacity.endpoint_id AND ${IS_RECEIVING} AND NOT endpoint.ordered
    CROSS JOIN LATERAL (
      SELECT delivery.id FROM webhook_delivery AS delivery
      WHERE delivery.endpoint_id = endpoint.id AND delivery.status = 'pending' AND delivery.due_at <= $1
      ORDER BY delivery.due_at LIMIT capacity.free FOR UPDATE OF delivery SKIP LOCKED
    ) AS due
  )
  UPDATE webhook_delivery AS delivery SET due_at = $2, fence = delivery.fence + 1
  FROM claimed WHERE delivery.id = claimed.id
  RETURNING delivery.id, delivery.endpoint_id AS "endpointId", delivery.event_id AS "eventId", delivery.attempts,
    delivery.fence, claimed.url`;

/**
 * Writes results of attempts. Ignores a result if the delivery is no longer pending, or has a newer fencing token
 * because it was claimed again. Returns the object and the position of each written result; a position, because two
 * results can be of one delivery. Maintains the row of each endpoint in `webhook_failure`, in the order of the endpoint
 * ids to avoid deadlocks:
 * - A success deletes the row.
 * - The first failure inserts the row. Later failures set `last_at`, at most once an hour.
 * - If the last failure was before `$12`, a failure also sets `since`, so that a new series of failures begins.
 */
const RECORD = `
  WITH result AS (
    SELECT * FROM unnest(
      $1::varchar[], $2::integer[], $3::varchar[], $4::timestamptz[], $5::timestamptz[], $6::integer[],
      $7::smallint[], $8::varchar[], $9::text[], $11::boolean[]
    ) WITH ORDINALITY AS result
      (id, fence, status, due_at, started_at, duration_ms, status_code, error, response_start, is_sent, position)
  ), written AS (
    UPDATE webhook_delivery AS delivery
    SET status = result.status, due_at = result.due_at, attempts = delivery.attempts + 1,
      updated_at = greatest(delivery.updated_at, $10)
    FROM result
    WHERE delivery.id = result.id AND delivery.fence = result.fence AND ${IS_PENDING}
    RETURNING delivery.endpoint_id, delivery.object_id, delivery.attempts, result.*
  ), health AS (
    SELECT endpoint_id, bool_or(status = 'succeeded') AS works FROM written WHERE is_sent GROUP BY endpoint_id
  ), held AS MATERIALIZED (
    SELECT failure.endpoint_id, health.works FROM webhook_failure AS failure
    JOIN health ON health.endpoint_id = failure.endpoint_id
    WHERE health.works OR coalesce(failure.last_at, failure.since) < $10 - interval '1 hour'
    ORDER BY failure.endpoint_id FOR UPDATE OF failure
  ), working AS (
    DELETE FROM webhook_failure USING held WHERE webhook_failure.endpoint_id = held.endpoint_id AND held.works
  ), failing AS (
    INSERT INTO webhook_failure (endpoint_id, since)
    SELECT endpoint_id, $10 FROM health WHERE NOT works ORDER BY endpoint_id ON CONFLICT (endpoint_id) DO NOTHING
  ), failing_again AS (
    UPDATE webhook_failure SET last_at = $10, since = CASE WHEN coalesce(last_at, since) < $12 THEN $10 ELSE since END
    FROM held WHERE webhook_failure.endpoint_id = held.endpoint_id AND NOT held.works
  ), stored AS (
    INSERT INTO webhook_attempt (delivery_id, number, started_at, duration_ms, status_code, error, response_start)
    SELECT id, attempts, started_at, duration_ms, status_code, error, response_start FROM written
  )
  SELECT position::int, endpoint_id, object_id FROM written`;

/**
 * Longest time between two failures of one series. Two hours are added to the longest pause, because `last_at` can be
 * an hour early, and an attempt can be an hour late.
 */
const LONGEST_GAP_MS = LONGEST_PAUSE_MS + 2 * 3_600_000;

/** Condition: no newer delivery of the event to the same endpoint exists, in any status. */
const NOT_RETRIED = `
  NOT EXISTS (
    SELECT FROM webhook_delivery AS later
    WHERE later.event_id = webhook_delivery.event_id AND later.endpoint_id = webhook_delivery.endpoint_id
      AND later.id > webhook_delivery.id)`;

interface WrittenRow extends ObjectKey {
  /** Position of the result in the input, from 1. */
  readonly position: number;
}

const objectOf = ({ endpoint_id: endpointId, object_id: id }: ObjectKey): string =>
  `${endpointId} ${id}`;

@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly database: Database,
    private readonly heads: HeadsRepository,
  ) {}

  /** Inserts deliveries, all of the same kind. Returns their number, without those that {@link INSERT} skips. */
  async insert(deliveries: readonly Delivery[]): Promise<number> {
    const [first] = deliveries;
    if (first === undefined) return 0;
    const made = await this.database.queryValue<number>(INSERT, [
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ eventType }) => eventType),
      deliveries.map(({ objectId }) => objectId),
      deliveries.map(({ sequence }) => sequence),
      first.kind,
      first.createdAt,
      new Date(first.createdAt.getTime() + LONGEST_LEASE_MS),
    ]);
    return made ?? 0;
  }

  /**
   * Claims due deliveries up to the free capacity of each endpoint, earliest due time first. Skips an endpoint that no
   * longer receives deliveries, or that became ordered or unordered since its capacity was computed.
   */
  async claim(
    now: Date,
    leaseEndsAt: Date,
    capacities: readonly Capacity[],
  ): Promise<readonly ClaimedDelivery[]> {
    const unordered = capacities.filter(({ ordered }) => !ordered);
    const claimed: ClaimedDelivery[] = [];
    if (unordered.length > 0) {
      const ids = unordered.map(({ endpointId }) => endpointId);
      const free = unordered.map((capacity) => capacity.free);
      const parameters = [now, leaseEndsAt, ids, free];
      claimed.push(...(await this.database.query<ClaimedDelivery>(CLAIM, parameters)));
    }
    for (const { endpointId, free } of capacities.filter(({ ordered }) => ordered)) {
      claimed.push(...(await this.heads.claim(now, leaseEndsAt, endpointId, free)));
    }
    return claimed;
  }

  /**
   * Writes the results of attempts. Returns the results that were written. A result is ignored if the delivery was
   * claimed again or is no longer pending.
   */
  record(results: readonly AttemptResult[], now: Date): Promise<ReadonlySet<AttemptResult>> {
    return this.database.transaction(async () => {
      const locked = await this.heads.lock(results.map(({ delivery }) => delivery.id));
      const written = await this.write(results, now);
      const changed = new Set(written.map(objectOf));
      await this.heads.advance(locked.filter((object) => changed.has(objectOf(object))));
      const positions = new Set(written.map(({ position }) => position));
      return new Set(results.filter((_, index) => positions.has(index + 1)));
    });
  }

  private write(results: readonly AttemptResult[], now: Date): Promise<readonly WrittenRow[]> {
    return this.database.query<WrittenRow>(RECORD, [
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
      results.map(({ isSent }) => isSent),
      new Date(now.getTime() - LONGEST_GAP_MS),
    ]);
  }

  find(id: string): Promise<Delivery | null> {
    return this.database.selectOne(WebhookDeliveryEntity, 'WHERE id = $1', [id]);
  }

  attemptsOf(deliveryId: string): Promise<readonly NumberedAttempt[]> {
    return this.database.select(WebhookAttemptEntity, 'WHERE delivery_id = $1 ORDER BY number', [
      deliveryId,
    ]);
  }

  page(filter: DeliveryFilter, request: PageRequest): Promise<Page<Delivery>> {
    return new ListQuery('webhook_delivery')
      .where('endpoint_id = $', filter.endpointId)
      .where('event_type = $', filter.eventType)
      .whereOneOf('status', filter.statuses)
      .whereBetween('created_at', filter.created)
      .page(this.database, WebhookDeliveryEntity, request);
  }

  /**
   * Returns up to `limit` matching deliveries, oldest first. Leaves out a delivery if a newer one of the same event to
   * the same endpoint exists.
   */
  async findUnretried(
    { eventType, statuses, created }: Omit<DeliveryFilter, 'endpointId'>,
    endpointIds: readonly string[],
    limit: number,
  ): Promise<readonly Delivery[]> {
    const page = await new ListQuery('webhook_delivery')
      .where('endpoint_id = ANY ($::varchar[])', endpointIds)
      .where('event_type = $', eventType)
      .where('status = ANY ($::varchar[])', statuses)
      .where('created_at >= $', created.from)
      .where('created_at < $', created.to)
      .whereIf(true, NOT_RETRIED)
      .orderBy({ column: 'id', isAscending: true })
      .page(this.database, WebhookDeliveryEntity, { limit, after: null });
    return page.items;
  }
}
