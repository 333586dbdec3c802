import { newId } from '../../platform/ids';
import type { NewIds } from './domain/outcome';

/** Makes the ids of what decisions about subscriptions add. */
export const SUBSCRIPTION_IDS: NewIds = {
  item: () => newId('si'),
  period: () => newId('sp'),
  change: () => newId('sch'),
};
