import { Injectable } from '@nestjs/common';
import { MAX_AHEAD_MS } from '../../core/next-version';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { ListingProvider } from '../payments';
import type { Reconciliation } from './reconciliation';
import { ReconciliationEntity } from './reconciliation.entity';

const LOCK_PROVIDER = `SELECT pg_advisory_xact_lock(hashtextextended('reconciliation ' || $1, 0))`;

/**
 * Runs that compared the last seven days, as the daily ones do, except a minute at each end. Runs of other periods say
 * nothing about the present state. $1: the present time. Runs that are dated more than a minute later were dated by a
 * wrong clock.
 */
const OF_LAST_DAYS = `from_at <= created_at - interval '168 hours' + interval '1 minute' AND to_at >= created_at - interval '1 minute'
  AND created_at <= $1::timestamptz + interval '${MAX_AHEAD_MS} milliseconds'`;

const LAST_COMPLETED = `
  SELECT DISTINCT ON (provider) provider, differences_found AS found, ended_at AS "endedAt"
  FROM reconciliation WHERE status = 'completed' AND ${OF_LAST_DAYS} ORDER BY provider, id DESC`;

const LAST_ENDED = `WHERE status <> 'running' AND ${OF_LAST_DAYS} ORDER BY id DESC LIMIT 1`;
const LAST_STARTED = `WHERE provider = $2 AND ${OF_LAST_DAYS} ORDER BY id DESC LIMIT 1`;
const RUNNING = `WHERE provider = $1 AND status = 'running'`;

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
   * Returns the running comparison with a provider, or null. Until this transaction ends, other calls for the same provider
   * wait, so that only one of several transactions starts a run.
   */
  async lockRunning(provider: ListingProvider): Promise<Reconciliation | null> {
    this.database.requireTransaction();
    await this.database.query(LOCK_PROVIDER, [provider]);
    return this.database.selectOne(ReconciliationEntity, RUNNING, [provider]);
  }

  /** Returns the run of the last seven days that was started last with a provider, or null. */
  findLastStarted(provider: ListingProvider, now: Date): Promise<Reconciliation | null> {
    return this.database.selectOne(ReconciliationEntity, LAST_STARTED, [now, provider]);
  }

  /** Returns the run of the last seven days that ended last with any provider, or null. */
  findLastEnded(now: Date): Promise<Reconciliation | null> {
    return this.database.selectOne(ReconciliationEntity, LAST_ENDED, [now]);
  }

  /** Returns the last completed run of the last seven days with each provider, with the number of differences found. */
  findLastCompleted(
    now: Date,
  ): Promise<
    readonly { readonly provider: string; readonly found: number; readonly endedAt: Date }[]
  > {
    return this.database.query(LAST_COMPLETED, [now]);
  }

  page(request: PageRequest): Promise<Page<Reconciliation>> {
    return new ListQuery('reconciliation').page(this.database, ReconciliationEntity, request);
  }

  async update(reconciliation: Reconciliation): Promise<void> {
    await this.database.update(ReconciliationEntity, reconciliation.id, reconciliation);
  }
}
