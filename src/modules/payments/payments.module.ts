import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomersModule } from '../customers';
import { InvoicingModule } from '../invoicing';
import { LedgerModule } from '../ledger';
import { SubscriptionsModule } from '../subscriptions';
import { TestClocksModule } from '../test-clocks';
import { CollectInvoicesService } from './collection/collect-invoices.service';
import { DueCollections } from './collection/due-collections';
import { ApplyDiscrepancyService } from './discrepancies/apply-discrepancy.service';
import { DiscrepanciesController } from './discrepancies/discrepancies.controller';
import { DiscrepanciesRepository } from './discrepancies/discrepancies.repository';
import { DiscrepanciesService } from './discrepancies/discrepancies.service';
import { DiscrepancyEntity } from './discrepancies/discrepancy.entity';
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
import { PaymentsPurge } from './payments-purge';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';
import { ManualProvider } from './providers/manual.provider';
import { ProviderGateway } from './providers/provider-gateway';
import { SandboxOperationEntity } from './providers/sandbox-operation.entity';
import { SandboxProvider } from './providers/sandbox.provider';
import { RefundCorrections } from './refund-corrections';
import { ReturnPaymentsService } from './return-payments.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      DiscrepancyEntity,
      PaymentEntity,
      PaymentMethodEntity,
      SandboxOperationEntity,
    ]),
    CustomersModule,
    InvoicingModule,
    LedgerModule,
    SubscriptionsModule,
    TestClocksModule,
  ],
  controllers: [
    DiscrepanciesController,
    PaymentsController,
    InvoicePaymentsController,
    PaymentMethodsController,
  ],
  providers: [
    ApplyDiscrepancyService,
    DiscrepanciesRepository,
    DiscrepanciesService,
    RefundCorrections,
    PaymentsPurge,
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
  exports: [DiscrepanciesService, PaymentRefundsService, PaymentsService, RefundCorrections],
})
export class PaymentsModule {}
