import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomersModule } from '../customers';
import { InvoicingModule } from '../invoicing';
import { LedgerModule } from '../ledger';
import { TestClocksModule } from '../test-clocks';
import { DiscrepanciesController } from './discrepancies/discrepancies.controller';
import { DiscrepanciesRepository } from './discrepancies/discrepancies.repository';
import { DiscrepanciesService } from './discrepancies/discrepancies.service';
import { DiscrepancyEntity } from './discrepancies/discrepancy.entity';
import { PaymentMethodEntity } from './methods/payment-method.entity';
import { PaymentMethodsController } from './methods/payment-methods.controller';
import { PaymentMethodsRepository } from './methods/payment-methods.repository';
import { PaymentMethodsService } from './methods/payment-methods.service';
import { PaymentLedgerCheck } from './payment-ledger-check';
import { PaymentEntity } from './payment.entity';
import { PaymentRecordsService } from './payment-records.service';
import { PaymentRefundsService } from './payment-refunds.service';
import { PaymentRetries } from './payment-retries';
import { PaymentStartsService } from './payment-starts.service';
import { PaymentsController } from './payments.controller';
import { PaymentsPurge } from './payments-purge';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';
import { ManualProvider } from './providers/manual.provider';
import { ProviderGateway } from './providers/provider-gateway';
import { SandboxOperationEntity } from './providers/sandbox-operation.entity';
import { SandboxProvider } from './providers/sandbox.provider';
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
    TestClocksModule,
  ],
  controllers: [DiscrepanciesController, PaymentsController, PaymentMethodsController],
  providers: [
    DiscrepanciesRepository,
    DiscrepanciesService,
    PaymentsPurge,
    ManualProvider,
    PaymentLedgerCheck,
    PaymentMethodsRepository,
    PaymentMethodsService,
    PaymentRecordsService,
    PaymentRetries,
    PaymentStartsService,
    PaymentRefundsService,
    PaymentsRepository,
    PaymentsService,
    ProviderGateway,
    ReturnPaymentsService,
    SandboxProvider,
  ],
  exports: [
    DiscrepanciesService,
    PaymentMethodsService,
    PaymentRecordsService,
    PaymentRefundsService,
    PaymentRetries,
    PaymentsRepository,
    PaymentsService,
    PaymentStartsService,
    ProviderGateway,
    ReturnPaymentsService,
  ],
})
export class PaymentsModule {}
