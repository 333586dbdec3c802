import type { InstantRange } from '../../core/time';
import { ListQuery } from '../../platform/database';
import { RENEWING_STATUSES, type SubscriptionStatus } from './domain/subscription';

/** A null field matches all subscriptions. */
export interface SubscriptionFilter {
  readonly customerId: string | null;
  readonly planId: string | null;
  /** True to leave out customers on test clocks. */
  readonly isInRealTime: boolean;
  readonly statuses: readonly SubscriptionStatus[] | null;
  /** Range of the end of the current period. If the range has a bound, only subscriptions that will renew match. */
  readonly renews: InstantRange;
}

/** SQL condition: another period follows the current one. A partial index has the same condition. */
export const RENEWS = `"status" IN (${RENEWING_STATUSES.map((status) => `'${status}'`).join(', ')})
  AND ("cancel_at" IS NULL OR "cancel_at" > "current_period_end_at")`;

export function subscriptionQuery(filter: SubscriptionFilter): ListQuery {
  const { renews } = filter;
  return new ListQuery('subscription')
    .where('customer_id = $', filter.customerId)
    .where('plan_id = $', filter.planId)
    .whereIf(filter.isInRealTime, 'test_clock_id IS NULL')
    .whereIf(renews.from !== null || renews.to !== null, RENEWS)
    .whereOneOf('status', filter.statuses)
    .whereBetween('current_period_end_at', renews);
}
