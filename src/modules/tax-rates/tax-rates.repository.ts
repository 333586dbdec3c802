import { Injectable } from '@nestjs/common';
import { In, IsNull } from 'typeorm';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import type { TaxRate } from './domain/tax-rate';
import { TaxRateEntity } from './tax-rate.entity';

/** Archived rates are found by `findGiven` alone. */
@Injectable()
export class TaxRatesRepository {
  constructor(private readonly database: Database) {}

  async insert(rate: TaxRate): Promise<void> {
    await this.database.insert(TaxRateEntity, rate);
  }

  find(id: string): Promise<TaxRate | null> {
    return this.rates.findOneBy({ id, archivedAt: IsNull() });
  }

  /** The rate, locked until the transaction ends. */
  lock(id: string): Promise<TaxRate | null> {
    this.database.requireTransaction();
    return this.rates.findOne({
      where: { id, archivedAt: IsNull() },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** Those of these rates that exist, kept from being switched off or archived until the transaction ends. */
  lockForReference(ids: readonly string[]): Promise<readonly TaxRate[]> {
    this.database.requireTransaction();
    return this.rates.find({
      where: { id: In([...ids]), archivedAt: IsNull() },
      order: { id: 'ASC' },
      lock: { mode: 'for_key_share' },
    });
  }

  /** Those of these rates that were ever made. */
  findGiven(ids: readonly string[]): Promise<readonly TaxRate[]> {
    return this.database.select(TaxRateEntity, 'WHERE id = ANY ($1)', [ids]);
  }

  page(request: PageRequest): Promise<Page<TaxRate>> {
    const query = this.rates.createQueryBuilder('rate').where('rate.archivedAt IS NULL');
    return pageById(query, request);
  }

  /** Writes what an update may change. */
  async update(rate: TaxRate): Promise<void> {
    const { isActive, metadata, archivedAt, version, updatedAt } = rate;
    await this.database.update(TaxRateEntity, rate.id, {
      isActive,
      metadata,
      archivedAt,
      version,
      updatedAt,
    });
  }

  private get rates() {
    return this.database.repository(TaxRateEntity);
  }
}
