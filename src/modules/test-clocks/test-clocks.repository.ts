import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import type { TestClock } from './domain/test-clock';
import { TestClockEntity } from './test-clock.entity';

/** `reference` prevents the clock from moving while a command uses its time; `move` waits for such commands. */
const LOCK_MODES = { reference: 'pessimistic_read', move: 'pessimistic_write' } as const;

@Injectable()
export class TestClocksRepository {
  constructor(private readonly database: Database) {}

  async insert(clock: TestClock): Promise<void> {
    await this.database.insert(TestClockEntity, clock);
  }

  find(id: string): Promise<TestClock | null> {
    return this.clocks.findOneBy({ id });
  }

  findAll(ids: readonly string[]): Promise<TestClock[]> {
    return this.database.select(TestClockEntity, 'WHERE id = ANY($1)', [ids]);
  }

  /** Locks the clock until the transaction ends. */
  lock(id: string, purpose: keyof typeof LOCK_MODES): Promise<TestClock | null> {
    this.database.requireTransaction();
    return this.clocks.findOne({ where: { id }, lock: { mode: LOCK_MODES[purpose] } });
  }

  page(request: PageRequest): Promise<Page<TestClock>> {
    return pageById(this.clocks.createQueryBuilder('test_clock'), request);
  }

  /** Writes the fields that an advance changes. */
  async update(clock: TestClock): Promise<void> {
    const { instant, status, targetAt, leaseEndsAt, leasedBy, version, updatedAt } = clock;
    await this.database.update(TestClockEntity, clock.id, {
      instant,
      status,
      targetAt,
      leaseEndsAt,
      leasedBy,
      version,
      updatedAt,
    });
  }

  async delete(id: string): Promise<void> {
    this.database.requireTransaction();
    await this.clocks.delete(id);
  }

  private get clocks() {
    return this.database.repository(TestClockEntity);
  }
}
