import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { InvoicingModule } from '../invoicing';
import { LedgerModule } from '../ledger';
import { TestClocksModule } from '../test-clocks';
import { DiscrepanciesController } from './discrepancies/discrepancies.controller';
import { DiscrepanciesRepository } from './discrepancies/discrepancies.repository';
import { DiscrepanciesService } from './discrepancies/discrepancies.service';
import { AutomaticChargesService } from './collection/automatic-charges.service';
import { DisputesController } from './disputes/disputes.controller';
import { DisputesRepository } from './disputes/disputes.repository';
import { DisputesService } from './disputes/disputes.service';
import { LostCreditService } from './disputes/lost-credit.service';
import { ReturnedMoneyService } from './disputes/returned-money.service';
import { ClientActionsService } from './client-actions.service';
import { DetachMethodsService } from './methods/detach-methods.service';
import { DueDetachments } from './methods/due-detachments';
import { AttachMethodsService } from './methods/attach-methods.service';
import { PaymentMethodSetupsController } from './methods/setups/payment-method-setups.controller';
import { PaymentMethodSetupsRepository } from './methods/setups/payment-method-setups.repository';
import { PaymentMethodSetupsService } from './methods/setups/payment-method-setups.service';
import { PaymentMethodsController } from './methods/payment-methods.controller';
import { PaymentMethodsRepository } from './methods/payment-methods.repository';
import { PaymentMethodsService } from './methods/payment-methods.service';
import { PaymentLedgerCheck } from './payment-ledger-check';
import { PaymentRecordsService } from './payment-records.service';
import { PaymentRefundsService } from './payment-refunds.service';
import { PaymentRetries } from './payment-retries';
import { PaymentStartsService } from './payment-starts.service';
import { PaymentsController } from './payments.controller';
import { paymentsPurge } from './payments-purge';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';
import { MissedProviderEvents } from './provider-events/missed-provider-events';
import { ProviderEventsRepository } from './provider-events/provider-events.repository';
import { ProviderEventsService } from './provider-events/provider-events.service';
import { ProviderWebhooksController } from './provider-events/provider-webhooks.controller';
import { ManualProvider } from './providers/manual.provider';
import { PreparedCharges } from './providers/prepared-charges';
import { ProviderCustomersRepository } from './providers/provider-customers.repository';
import { ProviderGateway } from './providers/provider-gateway';
import { ProviderMovementsService } from './providers/provider-movements.service';
import { SandboxProvider } from './providers/sandbox.provider';
import { StripeClient } from './providers/stripe/stripe-client';
import { StripeMovements } from './providers/stripe/stripe-movements';
import { StripeWebhooks } from './providers/stripe/stripe-webhooks';
import { StripeProvider } from './providers/stripe/stripe.provider';
import { ReturnPaymentsService } from './return-payments.service';

@Module({
  imports: [CustomersModule, InvoicingModule, LedgerModule, TestClocksModule],
  controllers: [
    DiscrepanciesController,
    DisputesController,
    PaymentsController,
    PaymentMethodsController,
    PaymentMethodSetupsController,
    ProviderWebhooksController,
  ],
  providers: [
    AttachMethodsService,
    ClientActionsService,
    AutomaticChargesService,
    DetachMethodsService,
    DiscrepanciesRepository,
    DiscrepanciesService,
    DisputesRepository,
    DisputesService,
    DueDetachments,
    LostCreditService,
    ReturnedMoneyService,
    MissedProviderEvents,
    ProviderEventsRepository,
    ProviderEventsService,
    StripeWebhooks,
    paymentsPurge,
    ManualProvider,
    PaymentLedgerCheck,
    PaymentMethodsRepository,
    PaymentMethodSetupsRepository,
    PaymentMethodSetupsService,
    PaymentMethodsService,
    PaymentRecordsService,
    PaymentRetries,
    PaymentStartsService,
    PaymentRefundsService,
    PaymentsRepository,
    PaymentsService,
    PreparedCharges,
    ProviderCustomersRepository,
    ProviderGateway,
    ProviderMovementsService,
    ReturnPaymentsService,
    SandboxProvider,
    StripeClient,
    StripeMovements,
    StripeProvider,
  ],
  exports: [
    PaymentMethodSetupsRepository,
    PaymentMethodSetupsService,
    AttachMethodsService,
    AutomaticChargesService,
    ProviderEventsRepository,
    ProviderEventsService,
    DiscrepanciesService,
    DisputesService,
    LostCreditService,
    PaymentMethodsService,
    PaymentRecordsService,
    PaymentRefundsService,
    PaymentRetries,
    PaymentsRepository,
    PaymentsService,
    PaymentStartsService,
    ProviderGateway,
    ProviderMovementsService,
    ReturnPaymentsService,
  ],
})
export class PaymentsModule {}
