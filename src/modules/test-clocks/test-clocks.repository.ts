import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { TestClock, TestClockLease, TestClockStatus } from './domain/test-clock';
import { TestClockEntity } from './test-clock.entity';

/**
 * Row locks of a clock: `reference` for transactions that use its time, `move` for changes. A `move` lock waits until
 * all `reference` locks are released.
 */
const LOCKS = { reference: 'FOR SHARE', move: 'FOR UPDATE' } as const;

const WHERE_ID = 'WHERE id = $1 AND deleted_at IS NULL';

/**
 * SQL condition: the clock is not deleted, and still has the version `$4`, which is a fencing token. The start of an
 * advance and each move increment the version. So no row matches if another request took over the advance.
 */
const WHERE_HELD = `${WHERE_ID} AND version = $4`;

const MOVE = `
  SET instant = greatest(instant, $2), lease_ends_at = $5, leased_by = $6, version = version + 1,
    updated_at = greatest(updated_at, $3)
  ${WHERE_HELD}`;

const RELEASE_LEASE = `
  lease_ends_at = NULL, leased_by = NULL, version = version + 1, updated_at = greatest(updated_at, $3)
  ${WHERE_HELD}`;

const END = {
  ready: `SET status = 'ready', instant = $2, target_at = NULL, ${RELEASE_LEASE}`,
  failed: `SET status = 'failed', target_at = $2, ${RELEASE_LEASE}`,
  advancing: `SET target_at = $2, ${RELEASE_LEASE}`,
} as const;

const CLAIM_DELETED = `
  UPDATE test_clock SET lease_ends_at = $2, leased_by = $3 WHERE id = (
    SELECT id FROM test_clock
    WHERE deleted_at IS NOT NULL AND (lease_ends_at IS NULL OR lease_ends_at <= $1)
    ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id`;

const RENEW_LEASE = `
  UPDATE test_clock SET lease_ends_at = $4, leased_by = $5
  WHERE id = $1 AND lease_ends_at = $2 AND leased_by = $3
  RETURNING id`;

/** Id of a clock, and the version that the running advance wrote last. */
type HeldClock = Pick<TestClock, 'id' | 'version'>;

@Injectable()
export class TestClocksRepository {
  constructor(private readonly database: Database) {}

  async insert(clock: TestClock): Promise<void> {
    await this.database.insert(TestClockEntity, clock);
  }

  find(id: string): Promise<TestClock | null> {
    return this.database.selectOne(TestClockEntity, WHERE_ID, [id]);
  }

  findAll(ids: readonly string[], which: 'all' | 'omit-deleted'): Promise<TestClock[]> {
    const tail = `WHERE id = ANY($1) ${which === 'all' ? '' : 'AND deleted_at IS NULL'}`;
    return this.database.select(TestClockEntity, tail, [ids]);
  }

  /** Returns the clock, locked until the transaction ends; null if it does not exist or is deleted. */
  lock(id: string, purpose: keyof typeof LOCKS): Promise<TestClock | null> {
    return this.database.selectOne(TestClockEntity, `${WHERE_ID} ${LOCKS[purpose]}`, [id]);
  }

  page(request: PageRequest): Promise<Page<TestClock>> {
    const query = new ListQuery('test_clock').whereIf(true, 'deleted_at IS NULL');
    return query.page(this.database, TestClockEntity, request);
  }

  /**
   * Moves a clock forward during an advance, never back, and renews its lease. Returns null if another call has changed
   * the version of the clock, or if the clock was deleted.
   */
  move(
    { id, version }: HeldClock,
    to: Date,
    now: Date,
    { leaseEndsAt, leasedBy }: TestClockLease,
  ): Promise<TestClock | null> {
    const parameters = [id, to, now, version, leaseEndsAt, leasedBy];
    return this.database.autocommit(() =>
      this.database.updateOne(TestClockEntity, MOVE, parameters),
    );
  }

  /**
   * Ends an advance. After an end with the status `advancing`, a later call with the same target can continue the
   * advance. Returns null if another call has changed the version of the clock, or if the clock was deleted.
   */
  end(
    { id, version }: HeldClock,
    status: TestClockStatus,
    to: Date,
    now: Date,
  ): Promise<TestClock | null> {
    this.database.requireTransaction();
    return this.database.updateOne(TestClockEntity, END[status], [id, to, now, version]);
  }

  async update(clock: TestClock): Promise<void> {
    await this.database.updateRevised(TestClockEntity, clock, [
      'instant',
      'status',
      'targetAt',
      'leaseEndsAt',
      'leasedBy',
    ]);
  }

  async markDeleted(id: string, now: Date, lease: TestClockLease): Promise<void> {
    this.database.requireTransaction();
    await this.database.update(TestClockEntity, id, { deletedAt: now, ...lease });
  }

  /** Takes the lease of a clock whose deletion was interrupted. Returns its id, or null if there is none. */
  claimDeleted(now: Date, { leaseEndsAt, leasedBy }: TestClockLease): Promise<string | null> {
    return this.database.queryValue<string>(CLAIM_DELETED, [now, leaseEndsAt, leasedBy]);
  }

  /** Replaces the lease of a deletion. Returns false if the clock no longer has the lease `held`. */
  async renewLease(id: string, held: TestClockLease, next: TestClockLease): Promise<boolean> {
    const parameters = [id, held.leaseEndsAt, held.leasedBy, next.leaseEndsAt, next.leasedBy];
    return (await this.database.query(RENEW_LEASE, parameters)).length > 0;
  }

  async delete(id: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.repository(TestClockEntity).delete(id);
  }
}
