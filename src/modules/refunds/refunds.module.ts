import { Module } from '@nestjs/common';
import { TestClocksModule } from '../test-clocks';
import { refundsPurge } from './refunds-purge';
import { CustomersModule } from '../customers';
import { LedgerModule } from '../ledger';
import { PaymentsModule } from '../payments';
import { DueRefunds } from './due-refunds';
import { ProviderRefundsService } from './provider-refunds.service';
import { RefundLedgerCheck } from './refund-ledger-check';
import { RefundOutcomesService } from './refund-outcomes.service';
import { RefundsController } from './refunds.controller';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';
import { SettleRefundService } from './settle-refund.service';
import { WaitingRefundsRepository } from './waiting-refunds.repository';
import { WaitingRefundsService } from './waiting-refunds.service';

@Module({
  imports: [CustomersModule, LedgerModule, PaymentsModule, TestClocksModule],
  controllers: [RefundsController],
  providers: [
    refundsPurge,
    DueRefunds,
    ProviderRefundsService,
    RefundLedgerCheck,
    RefundOutcomesService,
    RefundsRepository,
    RefundsService,
    SettleRefundService,
    WaitingRefundsRepository,
    WaitingRefundsService,
  ],
  exports: [
    ProviderRefundsService,
    RefundsRepository,
    RefundsService,
    SettleRefundService,
    WaitingRefundsService,
  ],
})
export class RefundsModule {}
