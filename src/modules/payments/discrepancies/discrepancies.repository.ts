import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../../platform/database';
import { DiscrepancyEntity } from './discrepancy.entity';
import type { Discrepancy, DiscrepancyStatus } from './domain/discrepancy';

const IS_KNOWN = `
  SELECT id FROM provider_discrepancy
  WHERE subject_id = $1 AND recorded_status = $2 AND reported_status = $3`;

@Injectable()
export class DiscrepanciesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Writes a discrepancy unless it was reported before. Returns true if written. The caller has locked the payment, so that
   * concurrent reports do not write twice.
   */
  async insert(discrepancy: Discrepancy): Promise<boolean> {
    this.database.requireTransaction();
    const { paymentId, refundId, recordedStatus, reportedStatus } = discrepancy;
    const subjectId = refundId ?? paymentId;
    const key = [subjectId, recordedStatus, reportedStatus];
    if ((await this.database.query(IS_KNOWN, key)).length > 0) return false;
    await this.database.insert(DiscrepancyEntity, { ...discrepancy, subjectId });
    return true;
  }

  find(id: string): Promise<Discrepancy | null> {
    return this.database.selectOne(DiscrepancyEntity, 'WHERE id = $1', [id]);
  }

  /** Returns the discrepancy, locked until the transaction ends. Lock it before its payment and refund. */
  lock(id: string): Promise<Discrepancy | null> {
    return this.database.selectOne(DiscrepancyEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  async updateStatus({ id, status, version, updatedAt }: Discrepancy): Promise<void> {
    await this.database.update(DiscrepancyEntity, id, { status, version, updatedAt });
  }

  page(status: DiscrepancyStatus | null, request: PageRequest): Promise<Page<Discrepancy>> {
    const query = new ListQuery('provider_discrepancy').where('status = $', status);
    return query.page(this.database, DiscrepancyEntity, request);
  }
}
