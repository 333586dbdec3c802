import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { changedAt } from '../../core/next-version';
import type { Period } from '../../core/time';
import type { Page, PageRequest } from '../../platform/database';
import { newId } from '../../platform/ids';
import { CatalogService } from '../catalog';
import { discountsPeriodFrom, type RedeemedTerms, RedemptionsService } from '../coupons';
import {
  commandTime,
  isMetered,
  type Subscription,
  type SubscriptionItem,
  SubscriptionsRepository,
} from '../subscriptions';
import { mrrOf } from './domain/mrr';
import {
  changeTo,
  countsFrom,
  isCounted,
  type LastChange,
  type MrrChange,
  type MrrChangeFilter,
  type MrrSum,
} from './domain/mrr-change';
import { MrrChangesRepository } from './mrr-changes.repository';

/** Price ids by plan id. */
type PricesOfPlans = ReadonlyMap<string, readonly string[]>;

interface CurrentRevenue {
  readonly at: Date;
  /** Minor units per month; 0 if the status gives no revenue. */
  readonly amountMinor: bigint;
}

/** Records changes of the monthly recurring revenue of subscriptions. Ignores subscriptions on test clocks. */
@Injectable()
export class RecurringRevenueService {
  constructor(
    private readonly changes: MrrChangesRepository,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly redemptions: RedemptionsService,
    private readonly catalog: CatalogService,
  ) {}

  /**
   * Records the current recurring revenue of subscriptions if it has changed. Must be called in the transaction that
   * locked and changed the subscriptions.
   * @param now current time; {@link countsFrom} decides from when a change counts
   * @param dueAt when the scheduled work that changed the subscription was due, by subscription id; null or absent: no
   *   scheduled work changed it
   */
  async record(
    changed: readonly Subscription[],
    now: Date,
    dueAt: ReadonlyMap<string, Date | null> = new Map(),
  ): Promise<void> {
    const real = changed.filter(({ testClockId }) => testClockId === null);
    if (real.length === 0) return;
    const last = await this.changes.findLast(real.map(({ id }) => id));
    const revenue = await this.currentRevenueOf(real, now);
    const changes = real.flatMap((subscription) => {
      const { id } = subscription;
      const before = last.get(id) ?? null;
      const { at, amountMinor: afterMinor } = revenue.get(id) ?? { at: now, amountMinor: 0n };
      const countsAt = countsFrom(subscription, before, dueAt.get(id) ?? null, at);
      return changeOf(subscription, before, { afterMinor, changedAt: countsAt });
    });
    await this.changes.insertAll(changes);
  }

  /**
   * Returns the monthly recurring revenue of subscriptions at `now`, by subscription id. If the last change of a
   * subscription is later than `now`, returns the amount after that change ({@link changedAt}, {@link commandTime}).
   * Such a change was made by a process with a faster clock, or while the transaction waited.
   * @param rule which prices a coupon for certain plans discounts
   * - `prices_of_plans`: the prices of these plans, as on invoices
   * - `present_plan`: all prices of the subscription's present plan if the coupon is for this plan, as in amounts that
   *   release 0.1.0 recorded
   */
  async currentRevenueOf(
    subscriptions: readonly Subscription[],
    now: Date,
    rule: 'prices_of_plans' | 'present_plan' = 'prices_of_plans',
  ): Promise<ReadonlyMap<string, CurrentRevenue>> {
    const items = await this.itemsOf(subscriptions, now);
    const counted = subscriptions.filter(isCounted);
    const redemptions = await this.redemptions.runningRedemptions(counted.map(({ id }) => id));
    const terms = [...redemptions.values()].flat();
    const planIds = new Set(terms.flatMap(({ coupon }) => coupon.planIds));
    const pricesOfPlans = await this.catalog.getPriceIdsOfPlans([...planIds]);
    return new Map(
      subscriptions.map((subscription) => {
        const { id } = subscription;
        const billed = items.get(id) ?? [];
        const at = commandTime({ subscription, items: billed }, changedAt(now, subscription));
        if (!isCounted(subscription)) return [id, { at, amountMinor: 0n }];
        const held = billed.filter(
          ({ startAt, endAt }) => startAt <= at && (endAt === null || endAt > at),
        );
        const pricesOf =
          rule === 'prices_of_plans' ? pricesOfPlans : pricesOfPresentPlan(subscription, held);
        const redeemed = redemptions.get(id) ?? [];
        return [id, { at, amountMinor: amountOf(subscription, held, redeemed, pricesOf) }];
      }),
    );
  }

  /** Sums the changes by currency, window and kind. Window 0 has the changes before all windows. */
  sumsWithin(windows: readonly Period[], currency: string | null): Promise<readonly MrrSum[]> {
    return this.changes.sumByWindow(windows, currency);
  }

  /** Returns changes of the MRR of subscriptions, newest first. */
  list(filter: MrrChangeFilter, request: PageRequest): Promise<Page<MrrChange>> {
    return this.changes.page(filter, request);
  }

  private async itemsOf(
    subscriptions: readonly Subscription[],
    at: Date,
  ): Promise<ReadonlyMap<string, readonly SubscriptionItem[]>> {
    const ids = subscriptions.map(({ id }) => id);
    const items = await this.subscriptions.itemsBilledAfter(ids, at);
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

function pricesOfPresentPlan(
  { planId }: Subscription,
  items: readonly SubscriptionItem[],
): PricesOfPlans {
  const ofPlan = items.filter(({ addonId }) => addonId === null);
  return new Map([[planId, ofPlan.map(({ price }) => price.priceId)]]);
}

function amountOf(
  subscription: Subscription,
  items: readonly SubscriptionItem[],
  redemptions: readonly RedeemedTerms[],
  pricesOf: PricesOfPlans,
): bigint {
  const { currentPeriodStartAt } = subscription;
  const running = redemptions.filter(
    ({ redemption }) =>
      currentPeriodStartAt === null || discountsPeriodFrom(redemption, currentPeriodStartAt),
  );
  return mrrOf({
    ...subscription,
    items: items.filter((item) => !isMetered(item)),
    coupons: running.map(({ redemption, coupon }) => ({
      redemption,
      coupon,
      priceIds:
        coupon.planIds.length === 0
          ? null
          : new Set(coupon.planIds.flatMap((planId) => pricesOf.get(planId) ?? [])),
    })),
  });
}
