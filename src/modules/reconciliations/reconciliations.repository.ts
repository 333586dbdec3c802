import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { ListingProvider } from '../payments';
import type { Reconciliation } from './reconciliation';
import { ReconciliationEntity } from './reconciliation.entity';

const LOCK_PROVIDER = `SELECT pg_advisory_xact_lock(hashtextextended('reconciliation ' || $1, 0))`;

const LAST_COMPLETED = `
  SELECT DISTINCT ON (provider) provider, differences_found AS found, ended_at AS "endedAt"
  FROM reconciliation WHERE status = 'completed' ORDER BY provider, id DESC`;

const NEWEST = 'WHERE provider = $1 ORDER BY id DESC LIMIT 1';

@Injectable()
export class ReconciliationsRepository {
  readonly table = 'reconciliation';

  constructor(private readonly database: Database) {}

  async insert(reconciliation: Reconciliation): Promise<void> {
    await this.database.insert(ReconciliationEntity, reconciliation);
  }

  find(id: string): Promise<Reconciliation | null> {
    return this.database.selectOne(ReconciliationEntity, 'WHERE id = $1', [id]);
  }

  lock(id: string): Promise<Reconciliation | null> {
    return this.database.selectOne(ReconciliationEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  /**
   * Returns the newest run of a provider, or null. Until this transaction ends, other calls for the same provider wait,
   * so that only one of several transactions starts a run.
   */
  async lockNewest(provider: ListingProvider): Promise<Reconciliation | null> {
    this.database.requireTransaction();
    await this.database.query(LOCK_PROVIDER, [provider]);
    return this.database.selectOne(ReconciliationEntity, NEWEST, [provider]);
  }

  findLastEnded(): Promise<Reconciliation | null> {
    const where = `WHERE status <> 'running' ORDER BY id DESC LIMIT 1`;
    return this.database.selectOne(ReconciliationEntity, where, []);
  }

  /** Returns the last completed run of each provider, with the number of differences found. */
  findLastCompleted(): Promise<
    readonly { readonly provider: string; readonly found: number; readonly endedAt: Date }[]
  > {
    return this.database.query(LAST_COMPLETED);
  }

  page(request: PageRequest): Promise<Page<Reconciliation>> {
    return new ListQuery('reconciliation').page(this.database, ReconciliationEntity, request);
  }

  async update(reconciliation: Reconciliation): Promise<void> {
    await this.database.update(ReconciliationEntity, reconciliation.id, reconciliation);
  }
}
