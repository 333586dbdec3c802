export { DueSubscriptions } from './due-subscriptions';
export { SubscriptionsModule } from './subscriptions.module';
