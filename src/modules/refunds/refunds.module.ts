import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TestClocksModule } from '../test-clocks';
import { RefundsPurge } from './refunds-purge';
import { LedgerModule } from '../ledger';
import { PaymentsModule } from '../payments';
import { DueRefunds } from './due-refunds';
import { RefundEntity } from './refund.entity';
import { RefundsController } from './refunds.controller';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([RefundEntity]),
    LedgerModule,
    PaymentsModule,
    TestClocksModule,
  ],
  controllers: [RefundsController],
  providers: [RefundsPurge, DueRefunds, RefundsRepository, RefundsService],
  exports: [RefundsService],
})
export class RefundsModule {}
