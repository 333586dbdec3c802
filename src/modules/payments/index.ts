export { ASKING_LEASE_MS, nextCheckAt } from './domain/payment';
export type { ProviderOutcome } from './domain/payment-provider';
export { SettleInSandboxDto, toFailureCode } from './dto/settle-in-sandbox.dto';
export { PaymentRefundsService } from './payment-refunds.service';
export {
  paymentNotFound,
  paymentNotInSandbox,
  paymentNotRefundable,
  refundAmountExceedsRefundable,
} from './payments.errors';
export { PaymentsModule } from './payments.module';
