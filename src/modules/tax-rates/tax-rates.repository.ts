import { Injectable } from '@nestjs/common';
import { In, IsNull } from 'typeorm';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { TaxRate } from './domain/tax-rate';
import { TaxRateEntity } from './tax-rate.entity';

/** Reads and writes tax rates. Only `findByIds` returns archived rates. */
@Injectable()
export class TaxRatesRepository {
  constructor(private readonly database: Database) {}

  async insert(rate: TaxRate): Promise<void> {
    await this.database.insert(TaxRateEntity, rate);
  }

  find(id: string): Promise<TaxRate | null> {
    return this.rates.findOneBy({ id, archivedAt: IsNull() });
  }

  /** Returns the rate, locked until the transaction ends; null if it does not exist or is archived. */
  lock(id: string): Promise<TaxRate | null> {
    return this.rates.findOne({
      where: { id, archivedAt: IsNull() },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /**
   * Returns the given rates that exist and are not archived. Blocks any change of these rates until the transaction
   * ends.
   */
  lockForReference(ids: readonly string[]): Promise<readonly TaxRate[]> {
    return this.rates.find({
      where: { id: In([...ids]), archivedAt: IsNull() },
      order: { id: 'ASC' },
      lock: { mode: 'for_key_share' },
    });
  }

  /** Returns the rates with these ids, archived ones included. */
  findByIds(ids: readonly string[]): Promise<readonly TaxRate[]> {
    return this.database.select(TaxRateEntity, 'WHERE id = ANY ($1)', [ids]);
  }

  page(request: PageRequest): Promise<Page<TaxRate>> {
    const query = new ListQuery('tax_rate').whereIf(true, 'archived_at IS NULL');
    return query.page(this.database, TaxRateEntity, request);
  }

  async update(rate: TaxRate): Promise<void> {
    await this.database.updateRevised(TaxRateEntity, rate, ['isActive', 'metadata', 'archivedAt']);
  }

  private get rates() {
    return this.database.repository(TaxRateEntity);
  }
}
