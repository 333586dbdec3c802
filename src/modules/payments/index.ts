export { FailureCodeFilter } from './dto/failure-code-filter';
export { AwaitedPoller } from './awaited-poller';
export { ProviderPoller } from './provider-poller';
export {
  correctedToSucceeded,
  hasEnded,
  type MethodChoice,
  type PaymentRequest,
  validOutcome,
  withOutcome,
} from './domain/payment';
export { paymentDisputed } from './disputes/disputes.errors';
export { DisputesService } from './disputes/disputes.service';
export {
  type DisputedMoney,
  type LostCreditOfInvoice,
  LostCreditService,
} from './disputes/lost-credit.service';
export { DiscrepanciesService } from './discrepancies/discrepancies.service';
export {
  discrepancyNotApplicable,
  discrepancyNotFound,
} from './discrepancies/discrepancies.errors';
export { discrepancyOf, isApplicable } from './discrepancies/domain/discrepancy';
export type { Discrepancy } from './discrepancies/domain/discrepancy';
export type { Payment } from './domain/payment';
export {
  isSameLease,
  type Lease,
  pollAgainLater,
  type PolledLease,
  pollLease,
  type StartedLease,
} from './domain/poll-lease';
export type { SentQuery } from './domain/sent-query';
export {
  isAnswer,
  type ReportedCharge,
  type UnrecordedCharge,
  type UnrecordedRefund,
  type ProviderName,
  type ProviderOutcome,
  type ProviderSetupState,
} from './domain/payment-provider';
export { PaymentRefundsService, type Refundable } from './payment-refunds.service';
export {
  paymentContradictsInvoice,
  paymentMethodNotAccepted,
  paymentMethodNotFound,
  paymentMethodRequired,
  paymentNotFound,
  paymentNotInSandbox,
  paymentNotRefundable,
  paymentProviderNotEnabled,
  paymentProviderUnavailable,
  testClockNotChargeable,
  refundAmountExceedsRefundable,
} from './payments.errors';
export { PaymentsModule } from './payments.module';
export { ReturnPaymentsService } from './return-payments.service';
export type {
  AttachedPaymentMethod,
  ChosenMethod,
  NewPaymentMethod,
  PaymentMethod,
} from './methods/domain/payment-method';
export { AttachMethodsService } from './methods/attach-methods.service';
export type { PaymentMethodSetup } from './methods/setups/domain/payment-method-setup';
export { PaymentMethodSetupsRepository } from './methods/setups/payment-method-setups.repository';
export { PaymentMethodSetupsService } from './methods/setups/payment-method-setups.service';
export { PaymentMethodsService } from './methods/payment-methods.service';
export { PaymentStartsService } from './payment-starts.service';
export { ProviderGateway } from './providers/provider-gateway';
export { AutomaticChargesService } from './collection/automatic-charges.service';
export { methodToCharge } from './collection/domain/attempt';
export { DiscrepancyDto, toDiscrepancyDto } from './discrepancies/dto/discrepancy.dto';
export { PaymentRecordsService } from './payment-records.service';
export { PaymentRetries } from './payment-retries';
export { PaymentsRepository } from './payments.repository';
export { LimitedPoller } from './limited-poller';
export { PaymentMethodDto, toPaymentMethodDto } from './methods/dto/payment-method.dto';
export {
  CreatePaymentMethodDto,
  toNewPaymentMethod,
  UpdatePaymentMethodDto,
} from './methods/dto/create-payment-method.dto';
export { PaymentDto, toPaymentDto } from './dto/payment.dto';
export { SettleInSandboxDto, toFailureCode } from './dto/settle-in-sandbox.dto';
export {
  CreatePaymentDto,
  PayInvoiceDto,
  toMethodChoice,
  toPaymentRequest,
} from './dto/create-payment.dto';
export { PaymentsService } from './payments.service';
export { DISPUTED_CASH_ROWS, PAID_ROWS, REFUNDED_ROWS, REFUNDS_RESERVED_ROWS } from './summed-rows';
export {
  type ApplyResult,
  PROVIDER_EVENTS_WORK,
  ProviderEventsService,
} from './provider-events/provider-events.service';
export {
  type KnownEvent,
  ProviderEventsRepository,
} from './provider-events/provider-events.repository';
export { isProviderWebhook } from './provider-events/webhook-route';
export { ProviderMovementsService } from './providers/provider-movements.service';
export {
  LISTING_PROVIDERS,
  type ListingProvider,
  MOVEMENT_KINDS,
  type MovementKind,
  MOVEMENT_STATES,
  type MovementState,
  type ProviderMovement,
} from './domain/provider-movement';
