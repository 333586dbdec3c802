import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TestClocksModule } from '../test-clocks';
import { LedgerPurge } from './ledger-purge';
import { LedgerChecks } from './ledger-checks';
import { LedgerPostingEntity } from './ledger-posting.entity';
import { LedgerTransactionEntity } from './ledger-transaction.entity';
import { LedgerController } from './ledger.controller';
import { LedgerRepository } from './ledger.repository';
import { LedgerService } from './ledger.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([LedgerPostingEntity, LedgerTransactionEntity]),
    TestClocksModule,
  ],
  controllers: [LedgerController],
  providers: [LedgerPurge, LedgerChecks, LedgerRepository, LedgerService],
  exports: [LedgerChecks, LedgerService],
})
export class LedgerModule {}
