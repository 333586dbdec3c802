import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import type { TestClock } from './domain/test-clock';
import { TestClockEntity } from './test-clock.entity';

/** `reference` prevents the clock from moving while a command uses its time; `move` waits for such commands. */
const LOCK_MODES = { reference: 'pessimistic_read', move: 'pessimistic_write' } as const;

const CLAIM_DELETED = `
  UPDATE test_clock SET lease_ends_at = $2, leased_by = $3 WHERE id = (
    SELECT id FROM test_clock
    WHERE deleted_at IS NOT NULL AND (lease_ends_at IS NULL OR lease_ends_at <= $1)
    ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id`;

export interface TestClockLease {
  /** Null if anybody may take it. */
  readonly endsAt: Date | null;
  /** Number of the process. */
  readonly owner: number | null;
}

@Injectable()
export class TestClocksRepository {
  constructor(private readonly database: Database) {}

  async insert(clock: TestClock): Promise<void> {
    await this.database.insert(TestClockEntity, clock);
  }

  find(id: string): Promise<TestClock | null> {
    return this.clocks.findOneBy({ id, deletedAt: IsNull() });
  }

  findAll(ids: readonly string[]): Promise<TestClock[]> {
    return this.database.select(TestClockEntity, 'WHERE id = ANY($1)', [ids]);
  }

  /** Locks the clock until the transaction ends. */
  lock(id: string, purpose: keyof typeof LOCK_MODES): Promise<TestClock | null> {
    return this.clocks.findOne({
      where: { id, deletedAt: IsNull() },
      lock: { mode: LOCK_MODES[purpose] },
    });
  }

  page(request: PageRequest): Promise<Page<TestClock>> {
    const query = this.clocks.createQueryBuilder('clock').where('clock.deletedAt IS NULL');
    return pageById(query, request);
  }

  /** Writes the fields that an advance changes. */
  async update(clock: TestClock): Promise<void> {
    await this.database.updateRevised(TestClockEntity, clock, [
      'instant',
      'status',
      'targetAt',
      'leaseEndsAt',
      'leasedBy',
    ]);
  }

  /** Hides a clock from everything but its deletion, leased to the caller. */
  async markDeleted(id: string, now: Date, lease: TestClockLease): Promise<void> {
    this.database.requireTransaction();
    const { endsAt: leaseEndsAt, owner: leasedBy } = lease;
    await this.database.update(TestClockEntity, id, { deletedAt: now, leaseEndsAt, leasedBy });
  }

  /** Leases a deleted clock whose deletion was interrupted to the caller. Returns its id, or null. */
  async claimDeleted(now: Date, { endsAt, owner }: TestClockLease): Promise<string | null> {
    const [row] = await this.database.query<{ id: string }>(CLAIM_DELETED, [now, endsAt, owner]);
    return row?.id ?? null;
  }

  async renewLease(id: string, { endsAt, owner }: TestClockLease): Promise<void> {
    await this.database.update(TestClockEntity, id, { leaseEndsAt: endsAt, leasedBy: owner });
  }

  /** Deletes the row of a clock without customers. */
  async delete(id: string): Promise<void> {
    this.database.requireTransaction();
    await this.clocks.delete(id);
  }

  private get clocks() {
    return this.database.repository(TestClockEntity);
  }
}
