export type {
  AccountBalance,
  CustomerBalance,
  LedgerCheck,
  PostedTransaction,
  PostingFacts,
} from './domain/posted-transaction';
export { LedgerChecks } from './ledger-checks';
export { LedgerModule } from './ledger.module';
export { LedgerService } from './ledger.service';
