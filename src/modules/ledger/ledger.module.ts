import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { purgeProvider, TestClocksModule } from '../test-clocks';
import { LedgerChecks } from './ledger-checks';
import { LedgerController } from './ledger.controller';
import { LedgerRepository } from './ledger.repository';
import { LedgerService } from './ledger.service';

@Module({
  imports: [CustomersModule, TestClocksModule],
  controllers: [LedgerController],
  providers: [
    purgeProvider('ledger', LedgerRepository, (from, customerIds) => from.removeOf(customerIds)),
    LedgerChecks,
    LedgerRepository,
    LedgerService,
  ],
  exports: [LedgerChecks, LedgerService],
})
export class LedgerModule {}
