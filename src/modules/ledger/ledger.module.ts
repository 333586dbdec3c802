import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { TestClocksModule } from '../test-clocks';
import { LedgerChecks } from './ledger-checks';
import { CreditBalanceTransactionsController } from './credit-balance-transactions.controller';
import { ledgerPurge } from './ledger-purge';
import { LedgerController } from './ledger.controller';
import { LedgerRepository } from './ledger.repository';
import { LedgerService } from './ledger.service';

@Module({
  imports: [CustomersModule, TestClocksModule],
  controllers: [LedgerController, CreditBalanceTransactionsController],
  providers: [ledgerPurge, LedgerChecks, LedgerRepository, LedgerService],
  exports: [LedgerChecks, LedgerService],
})
export class LedgerModule {}
