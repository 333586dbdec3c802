import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleDestroy,
} from '@nestjs/common';
import { LONGEST_PAUSE_MS } from '../../core/longest-pause';
import { MAX_AHEAD_MS } from '../../core/next-version';
import { Clock } from '../clock';
import { Database, isInterruption, OutcomeUnknownError, ROW_LOCKS } from '../database';
import { ProcessSession } from './process-session';

const RETRY_MS = 1_000;
/**
 * Maximum number of attempts, one per second, to give a lease back. After so many attempts, the lease has ended by
 * itself.
 */
const MAX_TRIES = 150;
/** Number of attempts, one per second, to find the rows of an unanswered commit, which may still take effect. */
const MAX_LATE_COMMIT_TRIES = 10;
const MAX_RETRY_DELAY_S = 150;
/** Number of failed attempts, made in about 50 minutes, after which work is tried only once an hour. */
export const FREQUENT_ATTEMPTS = 26;
/** Number of failed attempts after which work is claimed only if no other work is due. */
export const LATE_ATTEMPTS = 20;
/**
 * SQL interval that is longer than any pause between attempts. Only a process with a wrong clock plans a longer pause.
 */
const LONGER_THAN_PAUSES = `interval '${LONGEST_PAUSE_MS + MAX_AHEAD_MS} milliseconds'`;

/** A lease of this process on rows of a table with the columns `due_at`, `leased_by` and `attempts`. */
export interface HeldLease {
  readonly table: string;
  readonly ids: readonly string[];
  /** End of the lease. It distinguishes the lease from a later lease of the same process on the same rows. */
  readonly endsAt: Date | null;
}

/** Reason for giving a lease back. */
type Reason = 'not_done' | 'interrupted' | 'commit_unanswered';

/**
 * Leases due rows to this process. If the work on a row fails, for example because the database was restarted before
 * the last commit, gives the lease of the row back. Otherwise the work would wait for the end of the lease, because
 * `AbandonedWork` releases only leases of dead processes.
 */
@Injectable()
export class ReturnedLeases implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('returned-leases');
  private readonly returning = new Set<Promise<void>>();
  private readonly countedTables = new Set<string>();
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  /**
   * Makes the column `interruptions` of a table count attempts that ended because the database failed. Call it while
   * the owning module starts.
   */
  countInterruptions(table: string): void {
    this.countedTables.add(table);
  }

  /**
   * Leases up to `limit` due rows of a table, and returns their ids. Takes them in this order:
   * - rows with fewer than {@link LATE_ATTEMPTS} attempts, those due longest first;
   * - rows with more attempts, so that work that fails for hours does not delay new work;
   * - rows without a lease whose due time is further ahead than the longest pause. A wrong clock dated these rows, and
   *   they would wait until that time.
   */
  claim(
    table: string,
    { owner, endsAt }: { readonly owner: number; readonly endsAt: Date },
    limit: number,
  ): Promise<readonly string[]> {
    const parameters = [this.clock.now(), endsAt, limit, owner];
    return this.begin(
      () => this.database.queryValues<string>(claimSql(table), parameters),
      (ids) => ({ table, ids, endsAt }),
    );
  }

  /**
   * Runs `write` in a transaction. `write` leases existing rows, or inserts rows that are already leased. If the answer
   * to the commit is lost, gives the lease back.
   * @param leaseOf returns the lease of the rows, from the result of `write`
   */
  async begin<Result>(
    write: () => Promise<Result>,
    leaseOf: (written: Result) => HeldLease,
  ): Promise<Result> {
    const { number } = this.session;
    let giveBack = (): void => undefined;
    try {
      return await this.database.transaction(async () => {
        const written = await write();
        giveBack = () => void this.returnLease(leaseOf(written), number, 'commit_unanswered');
        return written;
      });
    } catch (error) {
      if (error instanceof OutcomeUnknownError) giveBack();
      throw error;
    }
  }

  /** Does work under a lease. If the work fails, or returns false because it is not done, gives the lease back. */
  async finish<Result>(lease: HeldLease, work: () => Promise<Result>): Promise<Result> {
    const { number } = this.session;
    try {
      const result = await work();
      if (result === false) await this.returnLease(lease, number, 'not_done');
      return result;
    } catch (error) {
      void this.returnLease(lease, number, isInterruption(error) ? 'interrupted' : 'not_done');
      throw error;
    }
  }

  /**
   * Gives a lease back: the rows are due again after a delay. The delay doubles with each failed attempt, from 1 s to
   * 150 s. After {@link FREQUENT_ATTEMPTS} attempts, the delay is an hour.
   * - Repeats the UPDATE until it succeeds, the lease has ended, or the process stops.
   * - If the commit of the lease got no answer, also repeats the UPDATE for 10 s while it finds no row. The commit may
   *   still take effect.
   * - Does not change rows whose work was done after all, or that have another lease by now.
   * @param owner number of this process. Null: the lease stays, and `AbandonedWork` releases it like that of a dead
   *   process.
   */
  private async returnLease(lease: HeldLease, owner: number | null, reason: Reason): Promise<void> {
    if (owner === null || lease.ids.length === 0) return;
    const returned = this.tryToReturn(lease, owner, reason).finally(() =>
      this.returning.delete(returned),
    );
    this.returning.add(returned);
    await returned;
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  /**
   * Waits for the statements in flight that return leases. Other processes take over the remaining leases after the end
   * of this process.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.returning);
  }

  private async tryToReturn(
    { table, ids, endsAt }: HeldLease,
    owner: number,
    reason: Reason,
  ): Promise<void> {
    const isCounted = reason !== 'not_done' && this.countedTables.has(table);
    const statement = returnLeaseSql(table, isCounted);
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      try {
        const parameters = [ids, owner, this.clock.now(), endsAt];
        const returned = await this.database.queryValues<string>(statement, parameters);
        const mayFollow = reason === 'commit_unanswered' && tries < MAX_LATE_COMMIT_TRIES;
        if (returned.length > 0 || !mayFollow) return;
      } catch (error) {
        this.logger.debug({ err: error, table, ids }, 'a lease was not returned');
      }
      if (this.stopping) return;
      await sleep(RETRY_MS);
    }
  }
}

function claimSql(table: string): string {
  const due = (attempts: string): string => `
      SELECT id FROM ${table} WHERE due_at <= $1 AND attempts ${attempts} ${LATE_ATTEMPTS} ORDER BY due_at`;
  return `
    WITH early AS (${due('<')} LIMIT $3 ${ROW_LOCKS.change} SKIP LOCKED),
    late AS (${due('>=')} LIMIT $3 - (SELECT count(*) FROM early) ${ROW_LOCKS.change} SKIP LOCKED),
    misdated AS (
      SELECT id FROM ${table} WHERE leased_by IS NULL AND due_at > $1::timestamptz + ${LONGER_THAN_PAUSES}
      ORDER BY due_at
      LIMIT $3 - (SELECT count(*) FROM early) - (SELECT count(*) FROM late) ${ROW_LOCKS.change} SKIP LOCKED)
    UPDATE ${table} SET due_at = $2, leased_by = $4
    WHERE id IN (SELECT id FROM early UNION ALL SELECT id FROM late UNION ALL SELECT id FROM misdated)
    RETURNING id`;
}

/** @param isCounted true to count the attempt in the column `interruptions` as well */
function returnLeaseSql(table: string, isCounted: boolean): string {
  return `
    UPDATE ${table}
    SET due_at = $3::timestamptz + interval '1 second' *
          CASE WHEN attempts + 1 < ${FREQUENT_ATTEMPTS}
            THEN least(power(2, least(attempts, 10)), ${MAX_RETRY_DELAY_S}) ELSE ${LONGEST_PAUSE_MS / 1_000} END,
        attempts = attempts + 1, ${isCounted ? 'interruptions = interruptions + 1,' : ''} leased_by = NULL
    WHERE id = ANY ($1) AND leased_by = $2 AND due_at = $4
    RETURNING id`;
}
