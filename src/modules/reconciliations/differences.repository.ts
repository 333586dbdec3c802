import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { Difference } from './difference';
import { ReconciliationDifferenceEntity } from './reconciliation-difference.entity';

@Injectable()
export class DifferencesRepository {
  constructor(private readonly database: Database) {}

  async insert(differences: readonly Difference[]): Promise<void> {
    await this.database.insertMany(ReconciliationDifferenceEntity, differences);
  }

  page(reconciliationId: string, request: PageRequest): Promise<Page<Difference>> {
    return new ListQuery('reconciliation_difference')
      .where('reconciliation_id = $', reconciliationId)
      .page(this.database, ReconciliationDifferenceEntity, request);
  }
}
