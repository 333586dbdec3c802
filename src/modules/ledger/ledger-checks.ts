import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database';
import { type CheckResult, type LedgerCheck, MOST_OFFENDING } from './domain/posted-transaction';
import { LedgerRepository } from './ledger.repository';

/**
 * What must hold in the books. The ledger knows that they balance; whether they say the same as payments and invoices is
 * known to the modules above, which register their checks here while they start.
 */
@Injectable()
export class LedgerChecks implements OnModuleInit {
  private readonly checks: LedgerCheck[] = [];

  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerRepository,
  ) {}

  onModuleInit(): void {
    this.register({
      name: 'every_transaction_sums_to_zero',
      run: () => this.ledger.findUnbalanced(),
    });
    this.register({
      name: 'every_posting_has_its_transaction',
      run: () => this.ledger.findOrphaned(),
    });
  }

  /** Adds a check; called while the module that owns it starts. */
  register(check: LedgerCheck): void {
    if (this.checks.some(({ name }) => name === check.name)) {
      throw new Error(`The check ${check.name} is registered twice.`);
    }
    this.checks.push(check);
  }

  /** Runs every check on the books as they were at one instant, whatever is written meanwhile. */
  run(): Promise<readonly CheckResult[]> {
    return this.database.transaction(async () => {
      await this.ledger.holdStill();
      const results: CheckResult[] = [];
      for (const { name, run } of this.checks) {
        results.push({ name, offending: (await run()).slice(0, MOST_OFFENDING) });
      }
      return results;
    });
  }
}
