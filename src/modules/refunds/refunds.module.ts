import { Module } from '@nestjs/common';
import { TestClocksModule } from '../test-clocks';
import { refundsPurge } from './refunds-purge';
import { CustomersModule } from '../customers';
import { LedgerModule } from '../ledger';
import { PaymentsModule } from '../payments';
import { DueRefunds } from './due-refunds';
import { RefundsController } from './refunds.controller';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';
import { SettleRefundService } from './settle-refund.service';

@Module({
  imports: [CustomersModule, LedgerModule, PaymentsModule, TestClocksModule],
  controllers: [RefundsController],
  providers: [refundsPurge, DueRefunds, RefundsRepository, RefundsService, SettleRefundService],
  exports: [RefundsRepository, RefundsService, SettleRefundService],
})
export class RefundsModule {}
