import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import type { Difference } from './difference';
import { ReconciliationDifferenceEntity } from './reconciliation-difference.entity';

@Injectable()
export class DifferencesRepository {
  constructor(private readonly database: Database) {}

  async insert(differences: readonly Difference[]): Promise<void> {
    await this.database.insertMany(ReconciliationDifferenceEntity, differences);
  }

  page(reconciliationId: string, request: PageRequest): Promise<Page<Difference>> {
    const query = this.database
      .repository(ReconciliationDifferenceEntity)
      .createQueryBuilder('difference')
      .where('difference.reconciliationId = :reconciliationId', { reconciliationId });
    return pageById(query, request);
  }
}
