export { ProviderPoller } from './provider-poller';
export { pollAgainLater, pollLease } from './domain/payment';
export { DiscrepanciesService } from './discrepancies/discrepancies.service';
export { discrepancyNotApplicable } from './discrepancies/discrepancies.errors';
export { discrepancyOf } from './discrepancies/domain/discrepancy';
export type { Discrepancy } from './discrepancies/domain/discrepancy';
export { RefundCorrections } from './refund-corrections';
export type { Lease, Payment } from './domain/payment';
export type { ProviderOutcome } from './domain/payment-provider';
export { PaymentRefundsService } from './payment-refunds.service';
export {
  paymentNotFound,
  paymentNotRefundable,
  paymentProviderNotEnabled,
  refundAmountExceedsRefundable,
} from './payments.errors';
export { PaymentsModule } from './payments.module';
export { SandboxPaymentsModule } from './sandbox-payments.module';
