export { EntitlementsModule } from './entitlements.module';
export { SubscriptionBalancesService } from './subscription-balances.service';
