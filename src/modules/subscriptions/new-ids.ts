import { newId } from '../../platform/ids';
import type { NewSubscriptionIds } from './domain/outcome';

/** Makes the ids of what decisions about subscriptions add. */
export const SUBSCRIPTION_IDS: NewSubscriptionIds = {
  item: () => newId('si'),
  period: () => newId('sp'),
  change: () => newId('sch'),
};
