import { Injectable } from '@nestjs/common';
import { MAX_AHEAD_MS } from '../../core/next-version';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { ListingProvider } from '../payments';
import type { Reconciliation } from './reconciliation';
import { ReconciliationEntity } from './reconciliation.entity';

const LOCK_PROVIDER = `SELECT pg_advisory_xact_lock(hashtextextended('reconciliation ' || $1, 0))`;

/**
 * Condition for runs over the seven days before their creation, as the daily runs are. A minute may be missing at each
 * end. Runs over other periods say nothing about the present state. `$1` is the present time. Ignores runs created more
 * than a minute after `$1`, because a wrong clock dated them.
 */
const OF_LAST_DAYS = `from_at <= created_at - interval '168 hours' + interval '1 minute' AND to_at >= created_at - interval '1 minute'
  AND created_at <= $1::timestamptz + interval '${MAX_AHEAD_MS} milliseconds'`;

/**
 * Selects, for each provider, the last completed run and the differences of the last run that counts. A completed run
 * always counts. A failed run with differences counts for two days, because it compared every object that it could
 * read.
 */
const LAST_RESULTS = `
  SELECT provider, (array_agg(ended_at ORDER BY id DESC) FILTER (WHERE status = 'completed'))[1] AS "completedAt",
    (array_agg(differences_found ORDER BY id DESC) FILTER (
      WHERE status = 'completed' OR differences_found > 0 AND created_at > $1::timestamptz - interval '2 days'))[1] AS found
  FROM reconciliation WHERE status <> 'running' AND ${OF_LAST_DAYS} GROUP BY provider`;

const LAST_ENDED = `WHERE status <> 'running' AND ${OF_LAST_DAYS} ORDER BY id DESC LIMIT 1`;
const LAST_STARTED = `WHERE provider = $2 AND ${OF_LAST_DAYS} ORDER BY id DESC LIMIT 1`;
const RUNNING = `WHERE provider = $1 AND status = 'running'`;

export interface LastResult {
  readonly provider: string;
  readonly found: number | null;
  readonly completedAt: Date | null;
}

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
   * Returns the running reconciliation with a provider, or null. Until this transaction ends, other calls for the same
   * provider wait, so that two transactions cannot both start a run.
   */
  async lockRunning(provider: ListingProvider): Promise<Reconciliation | null> {
    this.database.requireTransaction();
    await this.database.query(LOCK_PROVIDER, [provider]);
    return this.database.selectOne(ReconciliationEntity, RUNNING, [provider]);
  }

  /** Returns the newest run with a provider that covers the seven days before its creation, or null. */
  findLastStarted(provider: ListingProvider, now: Date): Promise<Reconciliation | null> {
    return this.database.selectOne(ReconciliationEntity, LAST_STARTED, [now, provider]);
  }

  /** Returns the newest ended run, with any provider, that covers the seven days before its creation, or null. */
  findLastEnded(now: Date): Promise<Reconciliation | null> {
    return this.database.selectOne(ReconciliationEntity, LAST_ENDED, [now]);
  }

  /**
   * Returns two values for each provider; null: there is no such run. The first value is the number of differences in
   * the last run that counts ({@link LAST_RESULTS}). The second value is the time at which a run was last completed.
   * Only considers runs over the seven days before their creation.
   */
  findLastResults(now: Date): Promise<readonly LastResult[]> {
    return this.database.query(LAST_RESULTS, [now]);
  }

  page(request: PageRequest): Promise<Page<Reconciliation>> {
    return new ListQuery('reconciliation').page(this.database, ReconciliationEntity, request);
  }

  async update(reconciliation: Reconciliation): Promise<void> {
    await this.database.update(ReconciliationEntity, reconciliation.id, reconciliation);
  }
}
