import { Module } from '@nestjs/common';
import { TestClocksModule } from '../test-clocks';
import { LedgerPurge } from './ledger-purge';
import { LedgerChecks } from './ledger-checks';
import { LedgerController } from './ledger.controller';
import { LedgerRepository } from './ledger.repository';
import { LedgerService } from './ledger.service';

@Module({
  imports: [TestClocksModule],
  controllers: [LedgerController],
  providers: [LedgerPurge, LedgerChecks, LedgerRepository, LedgerService],
  exports: [LedgerChecks, LedgerService],
})
export class LedgerModule {}
