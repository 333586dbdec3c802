export { EntitlementsModule } from './entitlements.module';
export { SubscriptionBalancesService } from './subscription-balances.service';
export { isConsumeRequest } from './consume-route';
