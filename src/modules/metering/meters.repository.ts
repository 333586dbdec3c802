import { Injectable } from '@nestjs/common';
import {
  Database,
  type Page,
  pageById,
  type PageRequest,
  violatedConstraint,
} from '../../platform/database';
import type { Meter } from './domain/meter';
import { MeterEntity } from './meter.entity';
import { meterKeyTaken } from './meters.errors';

/** `reference` goes together with itself and with `change`; `removal` goes together with nothing. */
const LOCKS = { reference: 'KEY SHARE', change: 'NO KEY UPDATE', removal: 'UPDATE' } as const;

@Injectable()
export class MetersRepository {
  constructor(private readonly database: Database) {}

  /** @throws {ProblemError} `meter_key_taken` */
  async insert(meter: Meter): Promise<void> {
    try {
      await this.database.insert(MeterEntity, meter);
    } catch (error) {
      if (violatedConstraint(error) === 'meter_key_unique') throw meterKeyTaken(meter.key);
      throw error;
    }
  }

  find(id: string): Promise<Meter | null> {
    return this.database.selectOne(MeterEntity, 'WHERE id = $1', [id]);
  }

  findAll(ids: readonly string[]): Promise<readonly Meter[]> {
    return this.database.select(MeterEntity, 'WHERE id = ANY($1) ORDER BY id', [ids]);
  }

  /** How many meters count the events of this name, archived ones as well. */
  async countOf(eventName: string): Promise<number> {
    const [row] = await this.database.query<{ meters: number }>(
      'SELECT count(*)::integer AS meters FROM meter WHERE event_name = $1',
      [eventName],
    );
    return row?.meters ?? 0;
  }

  /** The meter, locked until the transaction ends. */
  lock(id: string, purpose: keyof typeof LOCKS): Promise<Meter | null> {
    this.database.requireTransaction();
    return this.database.selectOne(MeterEntity, `WHERE id = $1 FOR ${LOCKS[purpose]}`, [id]);
  }

  /** Those that are not archived. */
  page(request: PageRequest): Promise<Page<Meter>> {
    const meters = this.database.repository(MeterEntity).createQueryBuilder('meter');
    return pageById(meters.where('meter.archivedAt IS NULL'), request);
  }

  /** Writes what an update, archiving or activation may change. */
  async update(meter: Meter): Promise<void> {
    const { name, lateEvents, status, metadata, archivedAt, version, updatedAt } = meter;
    await this.database.update(MeterEntity, meter.id, {
      name,
      lateEvents,
      status,
      metadata,
      archivedAt,
      version,
      updatedAt,
    });
  }
}
