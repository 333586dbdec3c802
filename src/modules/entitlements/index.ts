export { EntitlementsModule } from './entitlements.module';
export {
  SubscriptionBalancesService,
  type SubscriptionChange,
} from './subscription-balances.service';
export { isConsumeRequest } from './consume-route';
