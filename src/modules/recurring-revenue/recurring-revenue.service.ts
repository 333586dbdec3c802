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
  revenueSpanOf,
  firstRevenueAt,
  isCounted,
  isActiveUntil,
  type LastChange,
  type MrrChange,
  type MrrChangeFilter,
  type MrrSum,
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
    const last = await this.changes.findLastAndClearPending(real.map(({ id }) => id));
    await this.recordAfter(real, last, now);
  }

  /**
   * Records the revenue of locked subscriptions that `mrr_pending` marks. Records past changes too for subscriptions
   * without a recorded change.
   */
  async recordPending(pending: readonly Subscription[], now: Date): Promise<void> {
    const last = await this.changes.findLastAndClearPending(pending.map(({ id }) => id));
    await this.recordAfter(
      pending.filter(({ id }) => last.has(id)),
      last,
      now,
    );
    await this.backfill(
      pending.filter(({ id }) => !last.has(id)),
      now,
    );
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

  private async recordAfter(
    subscriptions: readonly Subscription[],
    last: ReadonlyMap<string, LastChange>,
    now: Date,
  ): Promise<void> {
    const amounts = await this.currentAmountsOf(subscriptions, now);
    const starts = await this.revenueStartsOf(
      subscriptions.filter(({ id }) => !last.has(id) && (amounts.get(id) ?? 0n) !== 0n),
      now,
    );
    const changes = subscriptions.flatMap((subscription) =>
      changeOf(subscription, last.get(subscription.id) ?? null, {
        afterMinor: amounts.get(subscription.id) ?? 0n,
        changedAt: starts.get(subscription.id) ?? now,
        isBackfilled: false,
      }),
    );
    await this.changes.insertAll(changes);
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
      const startAt = revenueSpanOf(subscription)?.startAt ?? now;
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

  /**
   * Records the last known amount of each subscription from the start of its revenue, and the end of the revenue if it
   * stopped.
   */
  private async backfill(subscriptions: readonly Subscription[], now: Date): Promise<void> {
    const amounts = new Map([
      ...(await this.currentAmountsOf(subscriptions, now)),
      ...(await this.lastAmountsOf(subscriptions)),
    ]);
    const changes = subscriptions.flatMap((subscription) => {
      const time = revenueSpanOf(subscription);
      const afterMinor = amounts.get(subscription.id) ?? 0n;
      if (time === null) return [];
      const { startAt, endAt } = time;
      const begun = changeOf(subscription, null, {
        afterMinor,
        changedAt: startAt,
        isBackfilled: true,
      });
      if (endAt === null) return begun;
      const end = { afterMinor: 0n, changedAt: endAt, isBackfilled: true };
      return [...begun, ...begun.flatMap((change) => changeOf(subscription, change, end))];
    });
    await this.changes.insertAll(changes);
  }

  /** Returns the last monthly amount of subscriptions whose revenue stopped, by subscription id. */
  private async lastAmountsOf(
    subscriptions: readonly Subscription[],
  ): Promise<ReadonlyMap<string, bigint>> {
    const stopped = subscriptions.flatMap((subscription) => {
      const stoppedAt = revenueSpanOf(subscription)?.endAt ?? null;
      return stoppedAt === null ? [] : [{ subscription, stoppedAt }];
    });
    const ids = stopped.map(({ subscription }) => subscription.id);
    const items = await this.itemsOf(ids, null);
    const redemptions = await this.redemptions.redemptionsOf(ids);
    return new Map(
      stopped.map(({ subscription, stoppedAt }) => [
        subscription.id,
        amountOf(
          subscription,
          (items.get(subscription.id) ?? []).filter((item) => isActiveUntil(item, stoppedAt)),
          (redemptions.get(subscription.id) ?? []).filter(({ redemption }) =>
            isActiveUntil({ startAt: redemption.redeemedAt, endAt: redemption.endedAt }, stoppedAt),
          ),
        ),
      ]),
    );
  }

  private async itemsOf(
    subscriptionIds: readonly string[],
    at: Date | null,
  ): Promise<ReadonlyMap<string, readonly SubscriptionItem[]>> {
    const items = await this.subscriptions.itemsBilledAfter(subscriptionIds, at);
    return groupBy(items, ({ subscriptionId }) => subscriptionId);
  }
}

function changeOf(
  { id: subscriptionId, customerId, currency }: Subscription,
  last: Pick<LastChange, 'sequence' | 'afterMinor'> | null,
  { afterMinor, ...fields }: Pick<MrrChange, 'afterMinor' | 'changedAt' | 'isBackfilled'>,
): readonly MrrChange[] {
  const change = changeTo(last, afterMinor);
  if (change === null) return [];
  return [{ id: newId('mrrc'), subscriptionId, customerId, currency, ...change, ...fields }];
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
