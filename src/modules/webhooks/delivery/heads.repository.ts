import { Injectable } from '@nestjs/common';
import { Database, ROW_LOCKS } from '../../../platform/database';
import type { ClaimedDelivery } from './domain/delivery';
import { IS_RECEIVING } from './receivers.repository';

/**
 * SQL condition: a row of `delivery`, selected by its id, is pending. The appended empty string keeps PostgreSQL from
 * using the partial indexes on pending rows. With outdated statistics, as after a burst of events, PostgreSQL would
 * assume that these indexes are nearly empty, and could read all pending rows through them.
 */
export const IS_PENDING = `delivery.status || '' = 'pending'`;

/**
 * Claims due deliveries to one ordered endpoint. A row of `webhook_head` (a head) refers to the first pending delivery
 * about each object, and only this delivery can be claimed.
 * - Skips an object if an earlier event of the object is not dispatched yet.
 * - If the delivery of a head has ended or is not due, returns its id with null delivery columns.
 * - Returns nothing if the endpoint is no longer ordered or receives no deliveries now.
 *
 * With outdated statistics, as after a burst of events, PostgreSQL must still read rows by key. So no tables are
 * joined, because a join could read the whole queue. Earlier events are searched only for the `2 * $4` oldest heads, so
 * that no plan reads all undispatched events for each head.
 */
const CLAIM = `
  WITH receiver AS MATERIALIZED (
    SELECT endpoint.url FROM webhook_endpoint AS endpoint WHERE endpoint.id = $3 AND ${IS_RECEIVING} AND endpoint.ordered
  ), oldest AS MATERIALIZED (
    SELECT head.object_id, head.delivery_id, head.sequence, head.due_at FROM webhook_head AS head
    WHERE head.endpoint_id = $3 AND head.due_at <= $1 AND (SELECT true FROM receiver)
    ORDER BY head.due_at LIMIT 2 * $4::integer FOR UPDATE OF head SKIP LOCKED
  ), due AS MATERIALIZED (
    SELECT oldest.object_id, oldest.delivery_id FROM oldest
    WHERE (
      SELECT true FROM event_dispatch AS queued
      WHERE hashtext(queued.object_id) = hashtext(oldest.object_id) AND queued.sequence < oldest.sequence
        AND queued.object_id = oldest.object_id
      LIMIT 1) IS NULL
    ORDER BY oldest.due_at LIMIT $4
  ), taken AS (
    UPDATE webhook_delivery AS delivery SET due_at = $2, fence = delivery.fence + 1
    WHERE delivery.id = ANY (ARRAY(SELECT delivery_id FROM due))
      AND ${IS_PENDING} AND delivery.due_at <= $1
    RETURNING delivery.id, delivery.endpoint_id, delivery.object_id, delivery.event_id, delivery.attempts,
      delivery.fence
  ), leased AS (
    UPDATE webhook_head AS head SET due_at = $2
    WHERE head.delivery_id = ANY (ARRAY(SELECT id FROM taken))
  )
  SELECT due.delivery_id AS "headId", taken.id, taken.endpoint_id AS "endpointId", taken.event_id AS "eventId",
    taken.attempts, taken.fence, (SELECT url FROM receiver) AS url
  FROM due LEFT JOIN taken ON taken.object_id = due.object_id`;

/**
 * Locks the endpoints of deliveries against a change of `ordered`, because such a change creates or deletes heads.
 * First waits for a change in progress, so that the next statement reads committed heads.
 */
const LOCK_ENDPOINTS = `
  SELECT ordered FROM webhook_endpoint
  WHERE id = ANY (ARRAY(SELECT endpoint_id FROM webhook_delivery WHERE id = ANY ($1)))
  ORDER BY id ${ROW_LOCKS.reference}`;

/**
 * Locks the heads (rows of `webhook_head`) of the deliveries' objects, in the same order as their insertion, to avoid
 * deadlocks. If a delivery is not the head, another transaction could otherwise make it the head while it ends.
 */
const LOCK = `
  SELECT endpoint_id, object_id FROM webhook_head
  WHERE (endpoint_id, object_id) IN (SELECT endpoint_id, object_id FROM webhook_delivery WHERE id = ANY ($1))
  ORDER BY endpoint_id, object_id FOR UPDATE OF webhook_head`;

/**
 * Disables sorting until the transaction ends, so that PostgreSQL reads the first pending delivery of an object from
 * `webhook_delivery_order_index`. With outdated statistics, as after a burst of events, it could otherwise sort all
 * pending deliveries of the endpoint for each object.
 */
const READ_IN_ORDER = 'SET LOCAL enable_sort = off';

const FIRST_PENDING = `
  SELECT id, sequence, due_at FROM webhook_delivery AS delivery
  WHERE delivery.endpoint_id = object.endpoint_id AND delivery.object_id = object.object_id
    AND delivery.status = 'pending'
  ORDER BY delivery.sequence, delivery.id LIMIT 1`;

const ADVANCE = `
  WITH next AS (
    SELECT object.endpoint_id, object.object_id, first.id, first.sequence, first.due_at
    FROM unnest($1::varchar[], $2::varchar[]) AS object (endpoint_id, object_id)
    LEFT JOIN LATERAL (${FIRST_PENDING}) AS first ON true
  ), ended AS (
    DELETE FROM webhook_head AS head USING next
    WHERE head.endpoint_id = next.endpoint_id AND head.object_id = next.object_id AND next.id IS NULL
  )
  UPDATE webhook_head AS head SET delivery_id = next.id, sequence = next.sequence, due_at = next.due_at
  FROM next
  WHERE head.endpoint_id = next.endpoint_id AND head.object_id = next.object_id AND next.id IS NOT NULL`;

/**
 * Creates the heads of an endpoint. Locks the deliveries first, to leave out deliveries that an uncommitted purge has
 * deleted. A purge deletes all events of an object, so the object needs no head.
 */
const BUILD = `
  INSERT INTO webhook_head (endpoint_id, object_id, delivery_id, sequence, due_at)
  SELECT endpoint_id, object_id, id, sequence, due_at FROM webhook_delivery AS delivery
  WHERE ${IS_PENDING} AND id = ANY (ARRAY(
    SELECT DISTINCT ON (object_id) id FROM webhook_delivery WHERE endpoint_id = $1 AND status = 'pending'
    ORDER BY object_id, sequence, id))
  ${ROW_LOCKS.reference}`;

const REMOVE = 'DELETE FROM webhook_head WHERE endpoint_id = $1';

export interface ObjectKey {
  readonly endpoint_id: string;
  readonly object_id: string;
}

type QueueHeadRow = { readonly headId: string } & (ClaimedDelivery | { readonly id: null });

/**
 * Stores heads. A head marks the first pending delivery about one object to an ordered endpoint. Transactions that add
 * or end a delivery lock the head of its object, so they run one after the other. A head can be due later than its
 * delivery, because it waits for an attempt at another one. If the delivery of a due head has ended or is not due, the
 * next claim corrects the head.
 */
@Injectable()
export class HeadsRepository {
  constructor(private readonly database: Database) {}

  /** Claims deliveries to an ordered endpoint. The cost depends on `limit`, not on the number of pending deliveries. */
  async claim(
    now: Date,
    leaseEndsAt: Date,
    endpointId: string,
    limit: number,
  ): Promise<readonly ClaimedDelivery[]> {
    const parameters = [now, leaseEndsAt, endpointId, limit];
    const rows = await this.database.query<QueueHeadRow>(CLAIM, parameters);
    const outdated = rows.filter(({ id }) => id === null);
    if (outdated.length > 0) {
      const ids = outdated.map(({ headId }) => headId);
      await this.database.transaction(async () => {
        // Does not lock the endpoint, because the claim has locked heads before.
        await this.advance(await this.database.query<ObjectKey>(LOCK, [ids]));
      });
    }
    return rows.flatMap((row) => (row.id === null ? [] : [row]));
  }

  /**
   * Locks the heads (rows of `webhook_head`) of the deliveries' objects until the transaction ends, and keeps their
   * endpoints from becoming ordered or unordered. Must be called before the deliveries are written.
   */
  async lock(deliveryIds: readonly string[]): Promise<readonly ObjectKey[]> {
    this.database.requireTransaction();
    const ordered = await this.database.queryValues<boolean>(LOCK_ENDPOINTS, [deliveryIds]);
    return ordered.includes(true) ? this.database.query<ObjectKey>(LOCK, [deliveryIds]) : [];
  }

  /**
   * Sets the head (first pending delivery) of each object, or deletes the head if no delivery is pending. The caller
   * must have locked the heads.
   */
  async advance(objects: readonly ObjectKey[]): Promise<void> {
    this.database.requireTransaction();
    if (objects.length === 0) return;
    await this.database.query(READ_IN_ORDER);
    await this.database.query(ADVANCE, [
      objects.map((object) => object.endpoint_id),
      objects.map((object) => object.object_id),
    ]);
  }

  /**
   * Adapts the heads (rows of `webhook_head`) of the deliveries' objects. Call it after the leases of a dead process on
   * these deliveries were released, and this release was committed.
   */
  async release(deliveryIds: readonly string[]): Promise<void> {
    await this.database.transaction(async () => {
      await this.advance(await this.lock(deliveryIds));
    });
  }

  /**
   * Creates the heads (first pending deliveries by object) of an endpoint that becomes ordered. The caller must have
   * locked the endpoint exclusively, so that no delivery is added and no result is written meanwhile.
   */
  async build(endpointId: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(BUILD, [endpointId]);
  }

  async remove(endpointId: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(REMOVE, [endpointId]);
  }
}
