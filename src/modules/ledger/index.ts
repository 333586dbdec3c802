export { LedgerChecks } from './ledger-checks';
export { POSTED_CASH_ROWS, postedRows, postedRowsBySource } from './ledger-rows';
export { LedgerModule } from './ledger.module';
export { LedgerService } from './ledger.service';
