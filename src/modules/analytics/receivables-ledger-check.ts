import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks } from '../ledger';
import { OWED_POSTED, OWED_STORED } from './receivables.repository';

/**
 * Registers a check for the verification of the ledger. All postings to receivables must add up to the amounts now owed
 * on open invoices. Reports of receivables at an earlier instant are calculated from these postings.
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
