import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { HeadsRepository, IS_PENDING } from './heads.repository';

/** Number of deliveries that are discarded in one commit. */
const PORTION = 1_000;

/**
 * Marks the present pending deliveries for discarding: stores the highest of their ids. A later delivery may have a
 * lower id and is then discarded too, because ids contain the time and the clocks of processes differ. Compares and
 * sorts by all columns of `webhook_delivery_status_index`, so that PostgreSQL uses this index. With outdated
 * statistics, another plan could read all former deliveries.
 */
const BEGIN = `
  UPDATE webhook_endpoint SET discard_to = (
    SELECT id FROM (
      SELECT endpoint_id, status, id FROM webhook_delivery WHERE (endpoint_id, status) <= ($1, 'pending')
      ORDER BY endpoint_id DESC, status DESC, id DESC LIMIT 1) AS last
    WHERE endpoint_id = $1 AND status = 'pending')
  WHERE id = $1`;

const LOCK_NEXT = `
  SELECT id FROM webhook_endpoint WHERE discard_to IS NOT NULL
  ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`;

/**
 * Finds the next deliveries to discard. Compares and sorts by all columns of an index, for the same reason as
 * {@link BEGIN}.
 */
const FIND = `
  SELECT id FROM webhook_delivery
  WHERE (endpoint_id, status, id) > ($1, 'pending', '')
    AND (endpoint_id, status, id) <= ($1, 'pending', (SELECT discard_to FROM webhook_endpoint WHERE id = $1))
  ORDER BY endpoint_id, status, id LIMIT ${PORTION}`;

/**
 * Discards pending deliveries. Skips deliveries that another transaction has locked to claim or record them, because
 * waiting could deadlock.
 */
const DISCARD = `
  UPDATE webhook_delivery SET status = 'discarded', due_at = NULL, updated_at = greatest(updated_at, $2)
  WHERE id = ANY (ARRAY(
    SELECT id FROM webhook_delivery AS delivery WHERE id = ANY ($1) AND ${IS_PENDING} FOR UPDATE SKIP LOCKED))
  RETURNING id`;

const COVERS = `SELECT FROM webhook_endpoint WHERE id = $1 AND discard_to COLLATE "C" >= $2`;

const END = 'UPDATE webhook_endpoint SET discard_to = NULL WHERE id = $1';

/**
 * Discards pending deliveries in portions, so that no lock is held for long. While `webhook_endpoint.discard_to` is
 * set, portions are left, and nothing is sent to the endpoint, even if it is enabled again.
 */
@Injectable()
export class DiscardsRepository {
  constructor(
    private readonly database: Database,
    private readonly heads: HeadsRepository,
  ) {}

  /**
   * Discards up to {@link PORTION} pending deliveries of an endpoint, and marks the rest to be discarded later. The
   * caller must have locked the endpoint exclusively, so that no delivery is added meanwhile.
   */
  async begin(endpointId: string, now: Date): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(BEGIN, [endpointId]);
    await this.discardPortion(endpointId, now);
  }

  /**
   * Discards the next portion of one endpoint. Returns false if there was none, or if other transactions have locked
   * all its deliveries.
   */
  continueNext(now: Date): Promise<boolean> {
    return this.database.transaction(async () => {
      const endpointId = await this.database.queryValue<string>(LOCK_NEXT);
      if (endpointId === null) return false;
      return this.discardPortion(endpointId, now);
    });
  }

  async covers(endpointId: string, deliveryId: string): Promise<boolean> {
    return (await this.database.query(COVERS, [endpointId, deliveryId])).length > 0;
  }

  /** Discards one portion. Returns false if deliveries are left but none of them could be discarded now. */
  private async discardPortion(endpointId: string, now: Date): Promise<boolean> {
    const ids = await this.database.queryValues<string>(FIND, [endpointId]);
    const locked = await this.heads.lock(ids);
    const discarded = await this.database.queryValues<string>(DISCARD, [ids, now]);
    await this.heads.advance(locked);
    const isLast = ids.length < PORTION && discarded.length === ids.length;
    if (isLast) await this.database.query(END, [endpointId]);
    return isLast || discarded.length > 0;
  }
}
