export { ALL_TRANSACTIONS, type PostedTransaction } from './domain/posted-transaction';
export {
  CreditBalanceTransactionDto,
  toCreditBalanceTransactionDto,
} from './dto/credit-balance-transaction.dto';
export { LedgerChecks } from './ledger-checks';
export { POSTED_CASH_ROWS, postedRows } from './ledger-rows';
export { LedgerModule } from './ledger.module';
export { LedgerService } from './ledger.service';
