import { invariant } from '../../../core/invariant';
import { nextDueAt, withPeriod } from './due';
import { awaitingPayment } from './first-payment';
import { endedItem, isBilledAfter, isMetered, isSameInterval, swapItems, withOffer } from './items';
import {
  earnedItems,
  outcomeOf,
  type Billing,
  type BillingLine,
  type NewSubscriptionIds,
  type Outcome,
} from './outcome';
import { advanceCharges, arrearsCharges, nextPeriod, trialPeriod } from './periods';
import {
  spanOf,
  type Snapshot,
  type SubscriptionItem,
  type SubscriptionPeriod,
} from './subscription';

const TRIAL_ENDING_MS = 3 * 86_400_000;

/**
 * Works out the start of a subscription: its trial, or its first period with the charges in advance. With
 * `default_incomplete`, the subscription waits until these charges are paid.
 */
export function decideStart(snapshot: Snapshot, ids: NewSubscriptionIds, now: Date): Outcome {
  const { subscription: before, items } = snapshot;
  invariant(snapshot.period === null, 'a subscription begins once');
  if (before.trialEndAt !== null) {
    const period = trialPeriod(before, before.trialEndAt, ids.period());
    const trialEndingAt = trialEndingOf(period);
    const trialing = { ...before, status: 'trialing', trialEndingAt } as const;
    return outcomeOf(withPeriod(trialing, period, snapshot.pending), {
      periodOpened: period,
      events: trialEndingAt === null ? ['updated', 'trial_ending'] : ['updated'],
    });
  }
  const period = nextPeriod(before, null, ids.period());
  const waits = before.paymentBehavior === 'default_incomplete';
  const begun = waits ? awaitingPayment(before, now) : ({ ...before, status: 'active' } as const);
  const subscription = withPeriod(begun, period, snapshot.pending);
  return outcomeOf(subscription, {
    periodOpened: period,
    billing: {
      reason: 'subscription_start',
      period: spanOf(period),
      renewsAt: period.startAt,
      lines: advanceCharges(subscription, items, period),
    },
    events: [waits ? 'updated' : 'activated'],
  });
}

function trialEndingOf({ startAt, endAt }: SubscriptionPeriod): Date | null {
  const at = new Date(endAt.getTime() - TRIAL_ENDING_MS);
  return at > startAt ? at : null;
}

/**
 * Works out the effect of the work that is due at `subscription.nextBillingAt`: the start, the end of a period or
 * trial, a scheduled change or cancellation, or the announcement of the trial's end.
 */
export function decideDue(snapshot: Snapshot, ids: NewSubscriptionIds, now: Date): Outcome {
  const { subscription, period, pending } = snapshot;
  const at = subscription.nextBillingAt;
  invariant(at !== null, 'The subscription has due work.');
  if (period === null) return decideStart(snapshot, ids, now);
  const isBoundary = !period.isClosed && period.endAt.getTime() === at.getTime();
  if (pending?.terms.kind === 'cancel' && pending.effectiveAt <= at) {
    const { creditUnused } = pending.terms;
    return decideEnd(snapshot, at, isBoundary ? 'border' : 'termination', creditUnused);
  }
  if (subscription.trialEndingAt?.getTime() === at.getTime()) {
    const announced = { ...subscription, trialEndingAt: null };
    const nextBillingAt = nextDueAt(announced, period, pending);
    return outcomeOf({ ...announced, nextBillingAt }, { events: ['trial_ending'] });
  }
  invariant(isBoundary, 'a change waits for the end of a period');
  return decideRenewal(snapshot, period, ids);
}

/**
 * Works out the end of a period: its charges in arrears, a scheduled change, and the next period. A paused subscription
 * gets no next period.
 */
function decideRenewal(
  snapshot: Snapshot,
  period: SubscriptionPeriod,
  ids: NewSubscriptionIds,
): Outcome {
  const { subscription: before, pending } = snapshot;
  const at = period.endAt;
  const arrears = arrearsCharges(before, snapshot.items, period, { at, end: 'border' });
  const closed = { ...period, isClosed: true };
  if (before.status === 'paused') {
    return outcomeOf(
      { ...before, nextBillingAt: nextDueAt(before, closed, pending) },
      {
        periodChanged: closed,
        billing: renewalBilling(spanOf(period), at, arrears),
        earned: earnedItems(closed, snapshot.items, false),
        events: ['updated'],
      },
    );
  }
  const change = pending?.terms.kind === 'change' ? pending.terms.offer : null;
  const swapped = change === null ? null : swapItems(snapshot.items, change, before, at, ids);
  const items = swapped?.items ?? snapshot.items;
  const changed = change === null ? before : withOffer(before, change);
  // The end of a trial and a change of the interval move the anchor.
  const isNewAnchor = period.isTrial || !isSameInterval(before, changed);
  const anchored = isNewAnchor ? { ...changed, anchorAt: at } : changed;
  const opened = nextPeriod(anchored, isNewAnchor ? null : period, ids.period());
  const settled = change === null ? null : pending;
  const subscription = withPeriod(
    { ...anchored, status: period.isTrial ? 'active' : anchored.status },
    opened,
    settled === null ? pending : null,
  );
  const advance = advanceCharges(subscription, items, opened);
  return outcomeOf(subscription, {
    ...swapped?.changes,
    periodOpened: opened,
    settled: settled === null ? null : { id: settled.id, status: 'applied' },
    billing: renewalBilling(advance.length > 0 ? spanOf(opened) : spanOf(period), at, [
      ...arrears,
      ...advance,
    ]),
    earned: earnedItems(closed, snapshot.items, false),
    events: [
      period.isTrial ? 'activated' : 'renewed',
      ...(change === null ? [] : ['updated' as const]),
    ],
  });
}

/**
 * Works out the end of a subscription.
 * @param end `border`: the subscription ends at the end of a period; `termination`: within a period
 */
export function decideEnd(
  snapshot: Snapshot,
  at: Date,
  end: 'border' | 'termination',
  creditUnused: boolean,
): Outcome {
  const { subscription: before, items, period, pending } = snapshot;
  const closes = period !== null && !period.isClosed;
  const arrears = closes ? arrearsCharges(before, items, period, { at, end }) : [];
  const credits =
    closes && creditUnused && end === 'termination' && !period.isTrial
      ? creditsOf(items.filter(isProrated), at, 'termination')
      : [];
  const closed = closes ? { ...period, endAt: at, isClosed: true } : null;
  const lines = [...arrears, ...credits];
  const paidUntil = paidUntilOf(period, at);
  return outcomeOf(
    {
      ...before,
      status: 'canceled',
      currentPeriodEndAt: closed?.endAt ?? before.currentPeriodEndAt,
      canceledAt: before.canceledAt ?? at,
      cancelAt: null,
      pausedAt: null,
      trialEndingAt: null,
      endedAt: at,
      nextBillingAt: null,
      renewalFailedAt: null,
      renewalFailureCode: null,
    },
    {
      itemsEnded: items.filter(isBilledAfter(at)).map((item) => {
        const { id, startAt, price } = item;
        const isCredited = creditUnused && isProrated(item);
        const endAt = price.timing === 'in_advance' && !isCredited ? paidUntil : at;
        return endedItem(id, startAt > endAt ? startAt : endAt);
      }),
      periodChanged: closed,
      settled:
        pending === null
          ? null
          : { id: pending.id, status: pending.terms.kind === 'cancel' ? 'applied' : 'undone' },
      billing:
        period === null || period.isTrial
          ? null
          : {
              reason: 'end',
              period: closed === null ? null : spanOf(closed),
              // Keeps the planned end of the period, although the subscription ends at `at`. A change at the same
              // instant may have made an invoice. That invoice belongs to this period, because no other period follows.
              billingPeriod: spanOf(period),
              renewsAt: end === 'border' ? at : null,
              lines,
              lateUsage: 'closed',
            },
      earned: closed === null ? null : earnedItems(closed, items, true),
      events: ['canceled'],
    },
  );
}

/**
 * Returns false for an item with proration `none`. A cancellation never credits such an item, not even with
 * `creditUnused`.
 */
function isProrated({ proration }: SubscriptionItem): boolean {
  return proration !== 'none';
}

/**
 * Returns the end of prepaid items that are not credited, if the subscription ends at `at`. This is the end of the paid
 * period. It is `at` in a trial, before the first period and after the last period.
 */
function paidUntilOf(period: SubscriptionPeriod | null, at: Date): Date {
  return period === null || period.isTrial || period.endAt < at ? at : period.endAt;
}

/**
 * Works out the end of the subscription of a deleted customer, and bills nothing. The subscription ends at `now` or, if
 * its next work was due earlier, at that time. The usage of the current period is not billed. Metered items therefore
 * end at the start of this period, so that no price applies to the usage.
 */
export function decideEndOfDeletedCustomer(snapshot: Snapshot, now: Date): Outcome {
  const { subscription, items, period } = snapshot;
  const { nextBillingAt } = subscription;
  const at = nextBillingAt === null || nextBillingAt > now ? now : nextBillingAt;
  const outcome = decideEnd(snapshot, at, 'border', false);
  if (period === null || period.isClosed) return { ...outcome, billing: null };
  const unbilled = items.filter(isMetered).flatMap(({ id, startAt, endAt }) => {
    const soldUntil = startAt > period.startAt ? startAt : period.startAt;
    return endAt === null || endAt > soldUntil ? [endedItem(id, soldUntil)] : [];
  });
  const unbilledIds = new Set(unbilled.map(({ id }) => id));
  const others = outcome.itemsEnded.filter(({ id }) => !unbilledIds.has(id));
  return { ...outcome, itemsEnded: [...others, ...unbilled], billing: null };
}

/**
 * Returns one request per item with a price in advance, to credit the time from `unusedFrom` on. Includes items that an
 * earlier change ended and credited. If the invoice with that credit is void, the credit is still due.
 * @param unit after a change: the proration unit of the new plan version; undefined: the unit of each credited line
 */
export function creditsOf(
  items: readonly SubscriptionItem[],
  unusedFrom: Date,
  end: 'border' | 'termination',
  unit?: 'day' | 'second',
): readonly BillingLine[] {
  return items
    .filter(({ price }) => price.timing === 'in_advance')
    .map(({ id: itemId }) => ({ kind: 'credit', itemId, unusedFrom, end, unit }));
}

function renewalBilling(
  period: { readonly startAt: Date; readonly endAt: Date },
  renewsAt: Date,
  lines: readonly BillingLine[],
): Billing {
  return { reason: 'renewal', period, renewsAt, lines, lateUsage: 'billed' };
}
