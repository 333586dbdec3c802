export { DueSubscriptions } from './due-subscriptions';
export { FirstPaymentsService } from './first-payments.service';
export { anchorOf, type Subscription } from './domain/subscription';
export { type SubscriptionChange, SubscriptionWatchers } from './subscription-watchers';
export { SubscriptionStandingService } from './subscription-standing.service';
export { SubscriptionsModule } from './subscriptions.module';
export { SubscriptionsService } from './subscriptions.service';
