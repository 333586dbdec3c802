export {
  type AddonQuantity,
  anchorOf,
  BILLING_ANCHORS,
  type BillingAnchorMode,
  PAYMENT_BEHAVIORS,
  type PaymentBehavior,
  type Snapshot,
  type Subscription,
  type SubscriptionItem,
  SUBSCRIPTION_TRANSITIONS,
} from './domain/subscription';
export { SubscriptionsModule } from './subscriptions.module';
export { SubscriptionsService } from './subscriptions.service';
export type {
  CancelSubscription,
  ChangeSubscription,
  CreateSubscription,
  PlanVersionChoice,
} from './domain/commands';
export { SubscriptionPeriodsService } from './subscription-periods.service';
export {
  type Decision,
  isNoOp,
  type Outcome,
  outcomeOf,
  affectsPrepaidCharges,
} from './domain/outcome';
export {
  DUE_SUBSCRIPTIONS,
  type DueSubscription,
  SubscriptionsRepository,
} from './subscriptions.repository';
export { commandTime, periodsOverdue, usageSoFar } from './domain/periods';
export { UnbillableUsageService } from './unbillable-usage.service';
export { type PaymentEvent, afterPaymentEvent } from './domain/payment-event';
export {
  statusEventOf,
  SUBSCRIPTION_EVENTS,
  SUBSCRIPTION_RENEWAL_FAILED,
} from './subscriptions.events';
export { SubscriptionCommandsService } from './subscription-commands.service';
export {
  planVersionChanged,
  scheduledChangeNotFound,
  subscriptionBehind,
  subscriptionChangePending,
  subscriptionCustomerDeleted,
  subscriptionNotCanceling,
  subscriptionNotFound,
  subscriptionNotRunning,
  subscriptionTermsContradict,
  subscriptionTooLarge,
} from './subscriptions.errors';
export { activated, isAwaitingPayment, isFirstPaymentOverdue } from './domain/first-payment';
export { decideExpiry, decideEndUnpaid } from './domain/decide-first-payment';
export { billingsAhead, type NextBilling } from './domain/look-ahead';
export { SUBSCRIPTION_IDS } from './new-ids';
export { StartSubscriptionService } from './start-subscription.service';
export { decideEndOfDeletedCustomer, decideDue } from './domain/decide';
export { SubscriptionDto, toSubscriptionDto } from './dto/subscription.dto';
export { isMetered } from './domain/items';
