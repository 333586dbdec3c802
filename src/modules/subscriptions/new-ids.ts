import { newId } from '../../platform/ids';
import type { NewSubscriptionIds } from './domain/outcome';

/** Creates the ids of items, periods and scheduled changes that decisions add. */
export const SUBSCRIPTION_IDS: NewSubscriptionIds = {
  item: () => newId('si'),
  period: () => newId('sp'),
  change: () => newId('sch'),
};
