import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TestClocksModule } from '../test-clocks';
import { PaymentsRemoval } from './payments-removal';
import { CustomersModule } from '../customers';
import { LedgerModule } from '../ledger';
import { DuePayments } from './due-payments';
import { PaymentLedgerCheck } from './payment-ledger-check';
import { PaymentEntity } from './payment.entity';
import { PaymentRefundsService } from './payment-refunds.service';
import { PaymentsController } from './payments.controller';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';
import { ManualProvider } from './providers/manual.provider';
import { ProviderGateway } from './providers/provider-gateway';
import { SandboxOperationEntity } from './providers/sandbox-operation.entity';
import { SandboxProvider } from './providers/sandbox.provider';
import { SandboxPaymentsController } from './sandbox-payments.controller';

@Module({
  imports: [
    TypeOrmModule.forFeature([PaymentEntity, SandboxOperationEntity]),
    CustomersModule,
    LedgerModule,
    TestClocksModule,
  ],
  controllers: [PaymentsController, SandboxPaymentsController],
  providers: [
    PaymentsRemoval,
    DuePayments,
    ManualProvider,
    PaymentLedgerCheck,
    PaymentRefundsService,
    PaymentsRepository,
    PaymentsService,
    ProviderGateway,
    SandboxProvider,
  ],
  exports: [PaymentRefundsService],
})
export class PaymentsModule {}
