import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks } from '../ledger';
import { OWED_POSTED, OWED_STORED } from './receivables.repository';

/**
 * Checks, when the ledger is verified, that all postings to receivables add up to the amounts now owed on open
 * invoices. Reports of receivables at an earlier instant are calculated from these postings.
 */
@Injectable()
export class ReceivablesLedgerCheck implements OnModuleInit {
  constructor(private readonly checks: LedgerChecks) {}

  onModuleInit(): void {
    this.checks.registerSums({
      name: 'receivables_by_subscription_equal_open_invoices',
      left: { name: 'stored', sql: [OWED_STORED] },
      right: { name: 'ledger', sql: [OWED_POSTED] },
    });
  }
}
