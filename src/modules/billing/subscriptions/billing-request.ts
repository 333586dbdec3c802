import type {
  BillingPeriods,
  CreditLineRequest,
  EarnedPeriod,
  BillingRequest,
} from '../../invoicing';
import type { Outcome, Subscription } from '../../subscriptions';

export function billingRequestOf({ subscription, billing }: Outcome): BillingRequest {
  return {
    ...termsOf(subscription),
    reason: billing?.reason ?? 'change',
    renewsAt: billing?.renewsAt ?? null,
    period: billing?.period ?? null,
    billingPeriod: billing?.billingPeriod ?? billing?.period ?? null,
    lines: billing?.lines ?? [],
    lateUsage: billing?.lateUsage,
  };
}

/**
 * Returns the billing periods after a decided change of a subscription, by subscription id. If the change ends a period
 * early and opens a new one, shortens the old period and adds the new one.
 * @param periods billing periods before the change
 */
export function periodsAfter(
  periods: BillingPeriods,
  { subscription: { id }, periodChanged, periodOpened }: Outcome,
): BillingPeriods {
  const found = periods.get(id);
  if (found === undefined || periodChanged === null || periodOpened === null) return periods;
  const { startAt, endAt } = periodChanged;
  const left = found.map((one) => (one.startAt < startAt ? one : { startAt, endAt }));
  const opened = { startAt: periodOpened.startAt, endAt: periodOpened.endAt };
  return new Map([...periods, [id, [...left, opened]]]);
}

export function creditsOf({ billing }: Outcome): readonly CreditLineRequest[] {
  return billing?.lines.filter((line) => line.kind === 'credit') ?? [];
}

export function lateUsageRequestOf(subscription: Subscription): BillingRequest {
  return { ...termsOf(subscription), reason: 'late_usage', lines: [], lateUsage: 'closed' };
}

export function usageRequestOf(
  subscription: Subscription,
  lines: BillingRequest['lines'],
): BillingRequest {
  return { ...termsOf(subscription), reason: 'renewal', lines, lateUsage: 'billed' };
}

export function earnedPeriodOf({ subscription, earned }: Outcome): readonly EarnedPeriod[] {
  if (earned === null) return [];
  const { period, ...items } = earned;
  const { id: subscriptionId, customerId, currency } = subscription;
  const { id, startAt, endAt } = period;
  return [{ id, subscriptionId, customerId, currency, startAt, endAt, ...items }];
}

function termsOf(subscription: Subscription) {
  const { id: subscriptionId, customerId, currency, collection, daysUntilDue } = subscription;
  const billed = { customerId, subscriptionId, currency, collection, daysUntilDue };
  return { ...billed, renewsAt: null, period: null, billingPeriod: null, metadata: {} };
}
