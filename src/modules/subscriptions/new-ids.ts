import { newId } from '../../platform/ids';
import type { NewSubscriptionIds } from './domain/outcome';

export const SUBSCRIPTION_IDS: NewSubscriptionIds = {
  item: () => newId('si'),
  period: () => newId('sp'),
  change: () => newId('sch'),
};
