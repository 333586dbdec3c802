export { AskingWork } from './asking-work';
export { ASKING_LEASE_MS, creditPartOf, nextCheckAt } from './domain/payment';
export type { Payment } from './domain/payment';
export type { ProviderOutcome } from './domain/payment-provider';
export { PaymentRefundsService } from './payment-refunds.service';
export {
  paymentNotFound,
  paymentNotRefundable,
  refundAmountExceedsRefundable,
} from './payments.errors';
export { PaymentsModule } from './payments.module';
