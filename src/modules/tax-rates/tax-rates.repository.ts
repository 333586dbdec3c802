import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  type Page,
  type PageRequest,
  ROW_LOCKS,
} from '../../platform/database';
import type { TaxRate } from './domain/tax-rate';
import { TaxRateEntity } from './tax-rate.entity';

const NOT_ARCHIVED = 'WHERE id = $1 AND archived_at IS NULL';

/** Reads and writes tax rates. Only `findByIds` returns archived rates. */
@Injectable()
export class TaxRatesRepository {
  constructor(private readonly database: Database) {}

  async insert(rate: TaxRate): Promise<void> {
    await this.database.insert(TaxRateEntity, rate);
  }

  find(id: string): Promise<TaxRate | null> {
    return this.database.selectOne(TaxRateEntity, NOT_ARCHIVED, [id]);
  }

  /** Returns the rate, locked until the transaction ends; null if it does not exist or is archived. */
  lock(id: string): Promise<TaxRate | null> {
    return this.database.selectOne(TaxRateEntity, `${NOT_ARCHIVED} ${ROW_LOCKS.deletion}`, [id]);
  }

  /**
   * Returns the rates with these ids that exist and are not archived. Blocks changes of these rates until the
   * transaction ends.
   */
  lockForReference(ids: readonly string[]): Promise<readonly TaxRate[]> {
    const locked = `WHERE id = ANY ($1) AND archived_at IS NULL ORDER BY id ${ROW_LOCKS.reference}`;
    return this.database.select(TaxRateEntity, locked, [ids]);
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
}
