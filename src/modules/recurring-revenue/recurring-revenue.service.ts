import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import type { Period } from '../../core/time';
import type { Page, PageRequest } from '../../platform/database';
import { newId } from '../../platform/ids';
import { discountsPeriodFrom, type RedeemedTerms, RedemptionsService } from '../coupons';
import {
  isMetered,
  type Subscription,
  type SubscriptionItem,
  SubscriptionsRepository,
} from '../subscriptions';
import { isLasting, mrrOf } from './domain/mrr';
import {
  changeTo,
  firstRevenueAt,
  isCounted,
  type LastChange,
  type MrrChange,
  type MrrChangeFilter,
  type MrrSum,
  revenueStartOf,
} from './domain/mrr-change';
import { MrrChangesRepository } from './mrr-changes.repository';

/** Records changes of the monthly recurring revenue of subscriptions. Ignores subscriptions on test clocks. */
@Injectable()
export class RecurringRevenueService {
  constructor(
    private readonly changes: MrrChangesRepository,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly redemptions: RedemptionsService,
  ) {}

  /**
   * Records the present recurring revenue of subscriptions, in the transaction that has locked and changed them. An
   * unchanged amount is not recorded.
   */
  async record(changed: readonly Subscription[], now: Date): Promise<void> {
    const real = changed.filter(({ testClockId }) => testClockId === null);
    if (real.length === 0) return;
    const last = await this.changes.findLast(real.map(({ id }) => id));
    const amounts = await this.currentAmountsOf(real, now);
    const starts = await this.revenueStartsOf(
      real.filter(({ id }) => !last.has(id) && (amounts.get(id) ?? 0n) !== 0n),
      now,
    );
    const changes = real.flatMap((subscription) =>
      changeOf(subscription, last.get(subscription.id) ?? null, {
        afterMinor: amounts.get(subscription.id) ?? 0n,
        changedAt: starts.get(subscription.id) ?? now,
      }),
    );
    await this.changes.insertAll(changes);
  }

  /**
   * Returns the recurring revenue of subscriptions at an instant, by subscription id. Leaves out subscriptions
   * whose status has no revenue.
   */
  async currentAmountsOf(
    subscriptions: readonly Subscription[],
    at: Date,
  ): Promise<ReadonlyMap<string, bigint>> {
    const counted = subscriptions.filter(isCounted);
    const ids = counted.map(({ id }) => id);
    const items = await this.itemsOf(ids, at);
    const redemptions = await this.redemptions.runningRedemptions(ids);
    return new Map(
      counted.map((subscription) => {
        const { id } = subscription;
        const held = (items.get(id) ?? []).filter(({ startAt }) => startAt <= at);
        return [id, amountOf(subscription, held, redemptions.get(id) ?? [])] as const;
      }),
    );
  }

  /** Sums the changes by window and kind. Window 0 has the changes before all windows. */
  sumsWithin(windows: readonly Period[], currency: string | null): Promise<readonly MrrSum[]> {
    return this.changes.sumByWindow(windows, currency);
  }

  /** Returns changes, newest first. */
  list(filter: MrrChangeFilter, request: PageRequest): Promise<Page<MrrChange>> {
    return this.changes.page(filter, request);
  }

  /**
   * Returns when the first revenue of each subscription started, by subscription id. Omits subscriptions whose revenue
   * did not start before `now`.
   */
  private async revenueStartsOf(
    subscriptions: readonly Subscription[],
    now: Date,
  ): Promise<ReadonlyMap<string, Date>> {
    const begun = subscriptions.flatMap((subscription) => {
      const startAt = revenueStartOf(subscription);
      return startAt < now ? [{ id: subscription.id, startAt }] : [];
    });
    if (begun.length === 0) return new Map();
    const ids = begun.map(({ id }) => id);
    const items = await this.itemsOf(ids, now);
    const redemptions = await this.redemptions.redemptionsOf(ids);
    return new Map(
      begun.map(({ id, startAt }) => {
        const counted = (redemptions.get(id) ?? []).filter(isLasting);
        const ends = counted.map(({ redemption }) => redemption);
        const since = firstRevenueAt(startAt, items.get(id) ?? [], ends, now);
        return [id, since] as const;
      }),
    );
  }

  private async itemsOf(
    subscriptionIds: readonly string[],
    at: Date,
  ): Promise<ReadonlyMap<string, readonly SubscriptionItem[]>> {
    const items = await this.subscriptions.itemsBilledAfter(subscriptionIds, at);
    return groupBy(items, ({ subscriptionId }) => subscriptionId);
  }
}

function changeOf(
  { id: subscriptionId, customerId, currency }: Subscription,
  last: LastChange | null,
  { afterMinor, changedAt }: Pick<MrrChange, 'afterMinor' | 'changedAt'>,
): readonly MrrChange[] {
  const change = changeTo(last, afterMinor);
  if (change === null) return [];
  const id = newId('mrrc');
  return [{ id, subscriptionId, customerId, currency, ...change, changedAt, isBackfilled: false }];
}

function amountOf(
  subscription: Subscription,
  items: readonly SubscriptionItem[],
  redemptions: readonly RedeemedTerms[],
): bigint {
  const { currentPeriodStartAt } = subscription;
  return mrrOf({
    ...subscription,
    items: items.filter((item) => !isMetered(item)),
    coupons: redemptions.filter(
      ({ redemption }) =>
        currentPeriodStartAt === null || discountsPeriodFrom(redemption, currentPeriodStartAt),
    ),
  });
}
