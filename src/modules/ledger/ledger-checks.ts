import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Reports } from '../../platform/database';
import { firstIdAt } from '../../platform/ids';
import { Metrics } from '../../platform/observability';
import {
  type CheckResult,
  type LastReconciliation,
  type LedgerCheck,
  MAX_OFFENDING,
  type QueryCheck,
  type SumsCheck,
} from './domain/posted-transaction';
import { LedgerRepository, WRONG_TOTALS } from './ledger.repository';

export interface Verification {
  readonly results: readonly CheckResult[];
  /** The last comparison of the books with a payment provider. Null: no comparison has ended yet. */
  readonly lastReconciliation: LastReconciliation | null;
}

/**
 * Runs the registered checks of the ledger. Registers the checks of the ledger's own tables itself. Other modules
 * register checks that compare the ledger with their tables, such as payments and invoices.
 */
@Injectable()
export class LedgerChecks implements OnModuleInit {
  private readonly checks: LedgerCheck[] = [];
  private findReconciliation: () => Promise<LastReconciliation | null> = () =>
    Promise.resolve(null);

  private readonly verifiedAt: Gauge;
  private readonly failedChecks: Gauge;

  constructor(
    private readonly reports: Reports,
    private readonly ledger: LedgerRepository,
    { registry }: Metrics,
  ) {
    this.verifiedAt = new Gauge({
      name: 'ledger_verified_timestamp_seconds',
      help: 'Unix time of the last verification of the ledger by this process; 0 before the first.',
      registers: [registry],
    });
    this.failedChecks = new Gauge({
      name: 'ledger_failed_checks',
      help: 'Failed checks of that verification.',
      registers: [registry],
    });
  }

  onModuleInit(): void {
    this.register({
      name: 'every_transaction_sums_to_zero',
      run: (since) => this.ledger.findUnbalanced(since),
    });
    this.register({
      name: 'every_posting_has_its_transaction',
      run: (since) => this.ledger.findOrphaned(since),
    });
    this.registerQuery({ name: 'totals_of_accounts_equal_postings', sql: WRONG_TOTALS });
  }

  /** Registers a check. Call it when a module starts. */
  register(check: LedgerCheck): void {
    if (this.checks.some(({ name }) => name === check.name)) {
      throw new Error(`The check ${check.name} is registered twice.`);
    }
    this.checks.push(check);
  }

  registerSums({ name, left, right }: SumsCheck): void {
    this.register({ name, run: (since) => this.ledger.findDifferences(left, right, since) });
  }

  /** Registers a check that runs only if the whole ledger is verified. */
  registerQuery({ name, sql }: QueryCheck): void {
    this.register({ name, run: () => this.ledger.findViolations(sql), onlyForWholeLedger: true });
  }

  /** Sets the source of `Verification.lastReconciliation`. Call it when a module starts. */
  showReconciliation(find: () => Promise<LastReconciliation | null>): void {
    this.findReconciliation = find;
  }

  /**
   * Runs the checks on one snapshot of the ledger, unaffected by concurrent writes. With `changedSince`, skips checks
   * that need the whole ledger, and does not set the metrics.
   * @param changedSince limits the checks to transactions made since this instant, and to customers with such a
   *   transaction; null: the whole ledger
   * @throws {ProblemError} `too_many_reports`
   */
  async run(changedSince: Date | null = null): Promise<Verification> {
    const verification = await this.runAll(
      changedSince === null ? null : firstIdAt('ltx', changedSince),
    );
    const { results } = verification;
    if (changedSince !== null) return verification;
    this.verifiedAt.setToCurrentTime();
    this.failedChecks.set(results.filter(({ offending }) => offending.length > 0).length);
    return verification;
  }

  private runAll(since: string | null): Promise<Verification> {
    return this.reports.run('verification', async () => {
      await this.ledger.extendTimeouts();
      const results: CheckResult[] = [];
      for (const { name, run, onlyForWholeLedger } of this.checks) {
        if (onlyForWholeLedger === true && since !== null) continue;
        const offending = await this.reports.part(() => run(since));
        results.push({ name, offending: offending.slice(0, MAX_OFFENDING) });
      }
      return { results, lastReconciliation: await this.findReconciliation() };
    });
  }
}
