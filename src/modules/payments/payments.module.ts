import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomersModule } from '../customers';
import { InvoicingModule } from '../invoicing';
import { LedgerModule } from '../ledger';
import { SubscriptionsModule } from '../subscriptions';
import { TestClocksModule } from '../test-clocks';
import { CollectInvoicesService } from './collection/collect-invoices.service';
import { DueCollections } from './collection/due-collections';
import { DuePayments } from './due-payments';
import { InvoicePaymentsController } from './invoice-payments.controller';
import { PaymentMethodEntity } from './methods/payment-method.entity';
import { PaymentMethodsController } from './methods/payment-methods.controller';
import { PaymentMethodsRepository } from './methods/payment-methods.repository';
import { PaymentMethodsService } from './methods/payment-methods.service';
import { PaymentLedgerCheck } from './payment-ledger-check';
import { PaymentEntity } from './payment.entity';
import { PaymentOutcomesService } from './payment-outcomes.service';
import { PaymentRefundsService } from './payment-refunds.service';
import { PaymentsController } from './payments.controller';
import { PaymentsRemoval } from './payments-removal';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';
import { ManualProvider } from './providers/manual.provider';
import { ProviderGateway } from './providers/provider-gateway';
import { SandboxOperationEntity } from './providers/sandbox-operation.entity';
import { SandboxProvider } from './providers/sandbox.provider';
import { ReturnPaymentsService } from './return-payments.service';
import { SandboxPaymentsController } from './sandbox-payments.controller';

@Module({
  imports: [
    TypeOrmModule.forFeature([PaymentEntity, PaymentMethodEntity, SandboxOperationEntity]),
    CustomersModule,
    InvoicingModule,
    LedgerModule,
    SubscriptionsModule,
    TestClocksModule,
  ],
  controllers: [
    PaymentsController,
    InvoicePaymentsController,
    PaymentMethodsController,
    SandboxPaymentsController,
  ],
  providers: [
    PaymentsRemoval,
    CollectInvoicesService,
    DueCollections,
    DuePayments,
    ManualProvider,
    PaymentLedgerCheck,
    PaymentMethodsRepository,
    PaymentMethodsService,
    PaymentOutcomesService,
    PaymentRefundsService,
    PaymentsRepository,
    PaymentsService,
    ProviderGateway,
    ReturnPaymentsService,
    SandboxProvider,
  ],
  exports: [PaymentRefundsService],
})
export class PaymentsModule {}
