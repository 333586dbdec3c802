import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { TestClocksModule } from '../test-clocks';
import { LedgerChecks } from './ledger-checks';
import { ledgerPurge } from './ledger-purge';
import { LedgerController } from './ledger.controller';
import { LedgerRepository } from './ledger.repository';
import { LedgerService } from './ledger.service';

@Module({
  imports: [CustomersModule, TestClocksModule],
  controllers: [LedgerController],
  providers: [ledgerPurge, LedgerChecks, LedgerRepository, LedgerService],
  exports: [LedgerChecks, LedgerService],
})
export class LedgerModule {}
