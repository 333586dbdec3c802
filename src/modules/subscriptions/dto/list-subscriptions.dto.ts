import {
  EnumField,
  EnumListFilter,
  ReferenceFilter,
  summaryOf,
  WithPaging,
} from '../../../platform/http';
import { ExpandCustomerField } from '../../customers';
import { SUBSCRIPTION_STATUSES, type SubscriptionStatus } from '../domain/subscription';
import type { SubscriptionFilter } from '../subscriptions.repository';

/** Filter of a list of subscriptions and of its summary. */
export class SubscriptionFilterDto {
  @ReferenceFilter('Only the subscriptions of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the subscriptions to this plan, all its versions included.')
  readonly plan_id?: string;
  @EnumListFilter(SUBSCRIPTION_STATUSES, 'Only subscriptions with one of these statuses.')
  readonly status?: readonly SubscriptionStatus[];
  @EnumField(
    ['none'],
    'With `none`: only subscriptions of customers in real time, without those on test clocks.',
    {
      optional: true,
    },
  )
  readonly test_clock_id?: 'none';
}

export class ListSubscriptionsDto extends WithPaging(SubscriptionFilterDto) {
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
}

export function toSubscriptionFilter(query: SubscriptionFilterDto): SubscriptionFilter {
  return {
    customerId: query.customer_id ?? null,
    planId: query.plan_id ?? null,
    statuses: query.status ?? null,
    isInRealTime: query.test_clock_id === 'none',
  };
}

export const SubscriptionSummaryDto = summaryOf('Subscription', {});
