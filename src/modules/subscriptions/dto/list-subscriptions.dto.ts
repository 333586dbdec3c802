import {
  EnumListFilter,
  FromField,
  ReferenceFilter,
  possibleStatuses,
  summaryOf,
  ToField,
  toInstantRange,
  WithPaging,
} from '../../../platform/http';
import { RealTimeFilter } from '../../test-clocks';
import {
  RENEWING_STATUSES,
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from '../domain/subscription';
import type { SubscriptionFilter } from '../subscription-query';

export class SubscriptionFilterDto {
  @ReferenceFilter('Only the subscriptions of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the subscriptions to this plan, all its versions included.')
  readonly plan_id?: string;
  @EnumListFilter(SUBSCRIPTION_STATUSES, 'Only subscriptions with one of these statuses.')
  readonly status?: readonly SubscriptionStatus[];
  @RealTimeFilter('subscriptions') readonly test_clock_id?: 'none';
  @FromField('of the next renewal')
  readonly renews_from?: string;
  @ToField('of the next renewal')
  readonly renews_to?: string;
}

export class ListSubscriptionsDto extends WithPaging(SubscriptionFilterDto) {
  @EnumListFilter(
    ['customer', 'plan'],
    'Objects to show within each item. `customer` needs the scope `customers:read`, and `plan` the scope `catalog:read`.',
  )
  readonly expand?: readonly ('customer' | 'plan')[];
}

export function toSubscriptionFilter(query: SubscriptionFilterDto): SubscriptionFilter {
  const isRenewing = query.renews_from !== undefined || query.renews_to !== undefined;
  return {
    customerId: query.customer_id ?? null,
    planId: query.plan_id ?? null,
    statuses: possibleStatuses(query.status, isRenewing, RENEWING_STATUSES),
    renews: toInstantRange(query.renews_from, query.renews_to),
    isInRealTime: query.test_clock_id === 'none',
  };
}

export const SubscriptionSummaryDto = summaryOf('Subscription', {});
