import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  type LockPurpose,
  onViolation,
  type Page,
  type PageRequest,
  ROW_LOCKS,
} from '../../platform/database';
import type { Meter } from './domain/meter';
import { MeterEntity } from './meter.entity';
import { meterKeyTaken } from './meters.errors';

@Injectable()
export class MetersRepository {
  constructor(private readonly database: Database) {}

  /** @throws {ProblemError} `meter_key_taken` */
  async insert(meter: Meter): Promise<void> {
    await onViolation(this.database.insert(MeterEntity, meter), 'meter_key_unique', () =>
      meterKeyTaken(meter.key),
    );
  }

  find(id: string): Promise<Meter | null> {
    return this.database.selectOne(MeterEntity, 'WHERE id = $1', [id]);
  }

  findAll(ids: readonly string[]): Promise<readonly Meter[]> {
    return this.database.select(MeterEntity, 'WHERE id = ANY($1) ORDER BY id', [ids]);
  }

  findEventNames(eventNames: readonly string[]): Promise<readonly string[]> {
    return this.database.queryValues<string>(
      'SELECT DISTINCT event_name AS name FROM meter WHERE event_name = ANY ($1)',
      [eventNames],
    );
  }

  /** Includes archived meters. */
  async countByEventName(eventName: string): Promise<number> {
    const sql = 'SELECT count(*)::integer FROM meter WHERE event_name = $1';
    return (await this.database.queryValue<number>(sql, [eventName])) ?? 0;
  }

  lock(id: string, purpose: LockPurpose): Promise<Meter | null> {
    return this.database.selectOne(MeterEntity, `WHERE id = $1 ${ROW_LOCKS[purpose]}`, [id]);
  }

  /** Leaves out archived meters. */
  page(request: PageRequest): Promise<Page<Meter>> {
    const query = new ListQuery('meter').whereIf(true, 'archived_at IS NULL');
    return query.page(this.database, MeterEntity, request);
  }

  async update(meter: Meter): Promise<void> {
    await this.database.updateRevised(MeterEntity, meter, [
      'name',
      'lateEvents',
      'status',
      'countedFromAt',
      'metadata',
      'archivedAt',
    ]);
  }

  async setBackfillTotal(id: string, events: number): Promise<void> {
    await this.database.query('UPDATE meter SET backfill_total = $2 WHERE id = $1', [id, events]);
  }

  async addBackfillCounted(id: string, events: number): Promise<void> {
    await this.database.query(
      'UPDATE meter SET backfill_counted = least(backfill_counted + $2, backfill_total) WHERE id = $1',
      [id, events],
    );
  }
}
