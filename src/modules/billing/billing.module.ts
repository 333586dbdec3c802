import { Module } from '@nestjs/common';
import { CouponsModule } from '../coupons';
import { CustomersModule } from '../customers';
import { EntitlementsModule } from '../entitlements';
import { InvoicingModule } from '../invoicing';
import { MeteringModule } from '../metering';
import { PaymentsModule } from '../payments';
import { RecurringRevenueModule } from '../recurring-revenue';
import { RefundsModule } from '../refunds';
import { SubscriptionsModule } from '../subscriptions';
import { TestClocksModule } from '../test-clocks';
import { BillingLocks } from './billing-locks';
import { CreditNoteCommandsController } from './credit-notes/credit-note-commands.controller';
import { IssueCreditNoteWorkflow } from './credit-notes/issue-credit-note.workflow';
import { VoidCreditNoteWorkflow } from './credit-notes/void-credit-note.workflow';
import { CustomerCommandsController } from './customers/customer-commands.controller';
import { DeleteCustomerWorkflow } from './customers/delete-customer.workflow';
import { DueDrafts } from './invoices/due-drafts';
import { FinalizeDueDraftsWorkflow } from './invoices/finalize-due-drafts.workflow';
import { FinalizeInvoiceWorkflow } from './invoices/finalize-invoice.workflow';
import { FinalizePrepaidDraftsWorkflow } from './invoices/finalize-prepaid-drafts.workflow';
import { InvoiceCommandsController } from './invoices/invoice-commands.controller';
import { MarkUncollectibleWorkflow } from './invoices/mark-uncollectible.workflow';
import { RegenerateInvoiceWorkflow } from './invoices/regenerate-invoice.workflow';
import { SimulatePricesWorkflow } from './invoices/simulate-prices.workflow';
import { SimulationsController } from './invoices/simulations.controller';
import { VoidInvoiceWorkflow } from './invoices/void-invoice.workflow';
import { VoidUnpaidInvoicesWorkflow } from './invoices/void-unpaid-invoices.workflow';
import { ApplyDiscrepancyWorkflow } from './payments/apply-discrepancy.workflow';
import { AdoptPaymentWorkflow } from './payments/adopt-payment.workflow';
import { ApplyProviderEventWorkflow } from './payments/apply-provider-event.workflow';
import { CloseCollectionWorkflow } from './payments/close-collection.workflow';
import { CollectInvoicesWorkflow } from './payments/collect-invoices.workflow';
import { DiscrepancyCommandsController } from './payments/discrepancy-commands.controller';
import { DueCollections } from './payments/due-collections';
import { DuePayments } from './payments/due-payments';
import { DueSetups } from './payments/due-setups';
import { DueProviderEvents } from './payments/due-provider-events';
import { InvoicePaymentsController } from './payments/invoice-payments.controller';
import { CompleteSetupWorkflow } from './payments/complete-setup.workflow';
import { SavePaymentMethodWorkflow } from './payments/save-payment-method.workflow';
import { PaymentCommandsController } from './payments/payment-commands.controller';
import { PaymentMethodCommandsController } from './payments/payment-method-commands.controller';
import { ResumePaymentWorkflow } from './payments/resume-payment.workflow';
import { SettlePaymentWorkflow } from './payments/settle-payment.workflow';
import { TakePaymentWorkflow } from './payments/take-payment.workflow';
import { RefundCommandsController } from './refunds/refund-commands.controller';
import { RefundPaymentWorkflow } from './refunds/refund-payment.workflow';
import { RefundedAmounts } from './refunded-amounts';
import { ApplyOutcomesWorkflow } from './subscriptions/apply-outcomes.workflow';
import { BillLateUsageWorkflow } from './subscriptions/bill-late-usage.workflow';
import { ChangeSubscriptionWorkflow } from './subscriptions/change-subscription.workflow';
import { DerivedState } from './subscriptions/derived-state';
import { DueLateUsage } from './subscriptions/due-late-usage';
import { DueSubscriptions } from './subscriptions/due-subscriptions';
import { FirstPaymentsWorkflow } from './subscriptions/first-payments.workflow';
import { PreviewInvoiceWorkflow } from './subscriptions/preview-invoice.workflow';
import { RenewSubscriptionsWorkflow } from './subscriptions/renew-subscriptions.workflow';
import { SubscribeWorkflow } from './subscriptions/subscribe.workflow';
import { SubscriptionCommandsController } from './subscriptions/subscription-commands.controller';
import { SubscriptionCouponsController } from './subscriptions/subscription-coupons.controller';
import { SubscriptionCouponsWorkflow } from './subscriptions/subscription-coupons.workflow';
import { SubscriptionStatusWorkflow } from './subscriptions/subscription-status.workflow';
import { ArchiveUsageWorkflow } from './usage/archive-usage.workflow';
import { CustomerUsageController } from './usage/customer-usage.controller';
import { DueUsageArchive } from './usage/due-usage-archive';
import { ProveUsageWorkflow } from './usage/prove-usage.workflow';
import { QuoteUsageWorkflow } from './usage/quote-usage.workflow';
import { UsageProofController } from './usage/usage-proof.controller';

@Module({
  imports: [
    CouponsModule,
    CustomersModule,
    EntitlementsModule,
    InvoicingModule,
    MeteringModule,
    PaymentsModule,
    RecurringRevenueModule,
    RefundsModule,
    SubscriptionsModule,
    TestClocksModule,
  ],
  controllers: [
    CreditNoteCommandsController,
    CustomerCommandsController,
    CustomerUsageController,
    DiscrepancyCommandsController,
    InvoiceCommandsController,
    InvoicePaymentsController,
    PaymentCommandsController,
    PaymentMethodCommandsController,
    RefundCommandsController,
    SimulationsController,
    SubscriptionCommandsController,
    SubscriptionCouponsController,
    UsageProofController,
  ],
  providers: [
    BillingLocks,
    RefundedAmounts,
    // Invoices.
    VoidUnpaidInvoicesWorkflow,
    FinalizePrepaidDraftsWorkflow,
    FinalizeInvoiceWorkflow,
    FinalizeDueDraftsWorkflow,
    VoidInvoiceWorkflow,
    MarkUncollectibleWorkflow,
    RegenerateInvoiceWorkflow,
    SimulatePricesWorkflow,
    IssueCreditNoteWorkflow,
    VoidCreditNoteWorkflow,
    // Subscriptions.
    ApplyOutcomesWorkflow,
    PreviewInvoiceWorkflow,
    SubscriptionStatusWorkflow,
    FirstPaymentsWorkflow,
    SubscribeWorkflow,
    ChangeSubscriptionWorkflow,
    SubscriptionCouponsWorkflow,
    RenewSubscriptionsWorkflow,
    BillLateUsageWorkflow,
    // Payments.
    SettlePaymentWorkflow,
    TakePaymentWorkflow,
    ResumePaymentWorkflow,
    CollectInvoicesWorkflow,
    CloseCollectionWorkflow,
    CompleteSetupWorkflow,
    SavePaymentMethodWorkflow,
    ApplyDiscrepancyWorkflow,
    AdoptPaymentWorkflow,
    ApplyProviderEventWorkflow,
    RefundPaymentWorkflow,
    // Usage and customers.
    QuoteUsageWorkflow,
    ProveUsageWorkflow,
    ArchiveUsageWorkflow,
    DeleteCustomerWorkflow,
    // Due work. Work that is due at the same instant of a test clock runs in this order.
    DueSubscriptions,
    DueDrafts,
    DerivedState,
    DueLateUsage,
    DueCollections,
    DuePayments,
    DueSetups,
    DueProviderEvents,
    DueUsageArchive,
  ],
  exports: [ResumePaymentWorkflow],
})
export class BillingModule {}
