import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import type { Period } from '../../core/time';
import type { CreditLine } from './domain/outcome';
import { creditAtEnd, earnedUntil } from './domain/periods';
import { spanOf, type SubscriptionPeriod } from './domain/subscription';
import { SubscriptionsRepository } from './subscriptions.repository';

export interface BilledInvoice {
  readonly subscriptionId: string | null;
  readonly reason: string;
  readonly periodStartAt: Date | null;
  readonly lines: readonly { readonly itemId: string | null }[];
}

export interface BilledState {
  readonly itemEnds: ReadonlyMap<string, Date>;
  /**
   * True for the first invoice of a subscription with `default_incomplete`. If this invoice is void, its period never
   * began.
   */
  readonly hasNeverBegun: boolean;
  readonly hasEnded: boolean;
  readonly billingPeriod: Period | null;
  readonly earnedUntil: Date | null;
}

/**
 * Returns the start and end of a billing period. The last period of an ended subscription keeps its full length, up to
 * `fullEndAt`, because no period follows.
 * @param isLast true for the last period of an ended subscription
 */
function billingPeriodOf(period: SubscriptionPeriod, isLast: boolean): Period {
  return isLast ? { startAt: period.startAt, endAt: period.fullEndAt } : spanOf(period);
}

@Injectable()
export class SubscriptionPeriodsService {
  constructor(private readonly subscriptions: SubscriptionsRepository) {}

  /**
   * Returns the time up to which charges in advance are recognized as revenue, by subscription id. The caller must have
   * locked the subscriptions, so that no period is closed meanwhile.
   */
  async earnedUntil(ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const periods = await this.subscriptions.newestPeriods(ids);
    return new Map(periods.map((period) => [period.subscriptionId, earnedUntil(period)]));
  }

  /**
   * Returns, by subscription id, the billing periods that end at or after a given time, oldest first.
   * @param since pairs of a subscription id and a time; if an id has several pairs, the earliest time counts
   */
  async billingPeriods(
    since: readonly (readonly [subscriptionId: string, at: Date])[],
  ): Promise<ReadonlyMap<string, readonly Period[]>> {
    if (since.length === 0) return new Map();
    const periods = await this.subscriptions.periodsSince(
      since.map(([subscriptionId]) => subscriptionId),
      since.map(([, at]) => at),
    );
    const found = new Map<string, readonly Period[]>();
    for (const [id, ofOne] of groupBy(periods, ({ subscriptionId }) => subscriptionId)) {
      found.set(
        id,
        ofOne.map((period, index) => {
          const isLast = index === ofOne.length - 1 && period.isClosed;
          return billingPeriodOf(period, isLast);
        }),
      );
    }
    return found;
  }

  /**
   * Returns, by item id, the request that credited the unused time of the item when it ended ({@link creditAtEnd}).
   * Items without an end are absent.
   */
  async creditsAtEnd(itemIds: readonly string[]): Promise<ReadonlyMap<string, CreditLine>> {
    const endings = await this.subscriptions.endingsOf(itemIds);
    return new Map(endings.map((ending) => [ending.itemId, creditAtEnd(ending)]));
  }

  /**
   * Returns the present state of the items and the period that an invoice billed. Locks the subscription of the invoice
   * until the transaction ends.
   */
  async lockBilled(invoice: BilledInvoice): Promise<BilledState> {
    const { subscriptionId, reason, lines, periodStartAt } = invoice;
    const snapshot =
      subscriptionId === null ? null : await this.subscriptions.lockSnapshot(subscriptionId);
    const period = snapshot?.period ?? null;
    const billed =
      subscriptionId === null || periodStartAt === null
        ? null
        : await this.subscriptions.periodAt(subscriptionId, periodStartAt);
    const hasEnded = (snapshot?.subscription.endedAt ?? null) !== null;
    return {
      itemEnds: await this.subscriptions.itemEnds(lines.flatMap(({ itemId }) => itemId ?? [])),
      hasNeverBegun:
        reason === 'subscription_start' &&
        snapshot?.subscription.paymentBehavior === 'default_incomplete',
      hasEnded,
      billingPeriod:
        billed === null ? null : billingPeriodOf(billed, hasEnded && billed.id === period?.id),
      earnedUntil: period === null ? null : earnedUntil(period),
    };
  }
}
