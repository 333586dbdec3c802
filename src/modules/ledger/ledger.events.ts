import { defineEvents } from '../../platform/outbox';
import {
  CreditBalanceTransactionDto,
  toCreditBalanceTransactionDto,
} from './dto/credit-balance-transaction.dto';

export const creditBalanceTransactionCreated = defineEvents(
  CreditBalanceTransactionDto,
  toCreditBalanceTransactionDto,
)('credit_balance_transaction.created', 'The credit balance of a customer changed by `amount`.');
