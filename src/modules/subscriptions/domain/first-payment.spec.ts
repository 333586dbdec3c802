import { isTerminal, mayBecome } from '../../../core/states';
import { decideStart } from './decide';
import { itemsOf } from './items';
import { changeRefusal, pauseRefusal } from './decide-command';
import { decideExpiry, decideEndUnpaid } from './decide-first-payment';
import { activated, isAwaitingPayment, isFirstPaymentOverdue } from './first-payment';
import { afterPaymentEvent } from './payment-event';
import {
  type Offer,
  type PaymentBehavior,
  type Snapshot,
  type Subscription,
  SUBSCRIPTION_TRANSITIONS,
} from './subscription';

const START = new Date('2026-03-01T00:00:00.000Z');
const TRIAL_END = new Date('2026-03-15T00:00:00.000Z');
const EXPIRY = new Date('2026-03-01T23:00:00.000Z');
const END = new Date('2026-04-01T00:00:00.000Z');

const OFFER: Offer = {
  planId: 'plan_1',
  planVersionId: 'planv_1',
  interval: 'month',
  intervalCount: 1,
  proration: 'day',
  quantity: '1',
  addons: [],
  items: [
    {
      addonId: null,
      quantity: '1',
      price: {
        priceId: 'price_1',
        name: 'Base',
        timing: 'in_advance',
        rating: { model: 'flat', amountMinor: 1_000n },
        minimumMinor: null,
        maximumMinor: null,
      },
    },
  ],
};

const ids = { item: () => 'si_1', period: () => 'sp_1', change: () => 'sch_1' };

function sold(paymentBehavior: PaymentBehavior, trialEndAt: Date | null = null): Snapshot {
  const { planId, planVersionId, interval, intervalCount, proration, quantity, addons } = OFFER;
  const subscription: Subscription = {
    ...{ planId, planVersionId, interval, intervalCount, proration, quantity, addons },
    id: 'sub_1',
    version: 1,
    customerId: 'cus_1',
    testClockId: null,
    status: 'incomplete',
    currency: 'USD',
    timeZone: 'UTC',
    collection: 'automatic',
    daysUntilDue: 0,
    paymentBehavior,
    billingAnchor: 'anniversary',
    startAt: START,
    incompleteExpiresAt: null,
    renewalFailedAt: null,
    renewalFailureCode: null,
    trialEndAt,
    trialEndingAt: null,
    anchorAt: START,
    currentPeriodStartAt: null,
    currentPeriodEndAt: null,
    pausedAt: null,
    cancelAt: null,
    canceledAt: null,
    endedAt: null,
    nextBillingAt: START,
    metadata: {},
    createdAt: START,
    updatedAt: START,
  };
  return { subscription, items: itemsOf('sub_1', OFFER, START, ids), period: null, pending: null };
}

/** Returns a started subscription that waits for its first payment, as the database would return it. */
function waiting(): Snapshot {
  const before = sold('default_incomplete');
  const { subscription, periodOpened: period } = decideStart(before, ids, START);
  return { ...before, subscription, period };
}

describe('a subscription that waits for its first payment', () => {
  it('bills its first period, and has nothing due but the end of its time, 23 hours from then', () => {
    const outcome = decideStart(sold('default_incomplete'), ids, START);
    expect(outcome.subscription).toMatchObject({
      status: 'incomplete',
      currentPeriodStartAt: START,
      currentPeriodEndAt: END,
      incompleteExpiresAt: EXPIRY,
      nextBillingAt: EXPIRY,
    });
    expect(outcome).toMatchObject({
      billing: { reason: 'subscription_start' },
      events: ['updated'],
    });
    expect(isAwaitingPayment(outcome.subscription)).toBe(true);
  });

  it('has its time from when it begins, however far back its start lies', () => {
    const { subscription } = decideStart(sold('default_incomplete'), ids, END);
    expect(subscription.incompleteExpiresAt).toEqual(new Date('2026-04-01T23:00:00.000Z'));
  });

  it.each<[string, Snapshot, object]>([
    ['sold to be active at once', sold('allow_active'), { status: 'active', nextBillingAt: END }],
    ['with a trial', sold('default_incomplete', TRIAL_END), { status: 'trialing' }],
  ])('is not one %s', (_, snapshot, expected) => {
    const { subscription } = decideStart(snapshot, ids, START);
    expect(subscription).toMatchObject({ ...expected, incompleteExpiresAt: null });
  });

  it('before its start waits for that', () => {
    expect(isAwaitingPayment(sold('default_incomplete').subscription)).toBe(false);
  });

  it('is active once it owes nothing, and its period goes on from its start', () => {
    const { subscription } = waiting();
    expect(afterPaymentEvent(subscription, 'settled')).toEqual({
      ...subscription,
      status: 'active',
      incompleteExpiresAt: null,
      nextBillingAt: END,
    });
    expect(() => activated(sold('default_incomplete').subscription)).toThrow('waited for');
  });

  it.each(['failed', 'used_up', 'retried'] as const)('stays as it is: %s', (fact) => {
    const { subscription } = waiting();
    expect(afterPaymentEvent(subscription, fact)).toBe(subscription);
  });

  it('is out of time at its end, not before', () => {
    const { subscription } = waiting();
    expect(isFirstPaymentOverdue(subscription, new Date(EXPIRY.getTime() - 1))).toBe(false);
    expect(isFirstPaymentOverdue(subscription, EXPIRY)).toBe(true);
    const { subscription: late } = decideExpiry(waiting(), true);
    expect(isFirstPaymentOverdue(late, new Date(EXPIRY.getTime() - 1))).toBe(true);
    expect(isFirstPaymentOverdue(sold('allow_active').subscription, END)).toBe(false);
  });

  it('expires for good, and bills nothing for its time', () => {
    const outcome = decideExpiry(waiting(), false);
    expect(outcome.subscription).toMatchObject({
      status: 'incomplete_expired',
      incompleteExpiresAt: null,
      canceledAt: null,
      endedAt: EXPIRY,
      nextBillingAt: null,
    });
    expect(outcome).toMatchObject({
      billing: null,
      itemsEnded: [{ id: 'si_1', endAt: EXPIRY }],
      periodChanged: { endAt: EXPIRY, isClosed: true },
      events: ['expired'],
    });
    expect(isTerminal(SUBSCRIPTION_TRANSITIONS, outcome.subscription.status)).toBe(true);
  });

  it('does not expire while it is being paid: what comes of that decides', () => {
    const { subscription } = waiting();
    const outcome = decideExpiry(waiting(), true);
    expect(outcome.subscription).toEqual({ ...subscription, nextBillingAt: null });
    expect(outcome.events).toEqual(['updated']);
  });

  it('keeps the end of a period that was over before', () => {
    const snapshot = waiting();
    const { period } = snapshot;
    if (period === null) throw new Error('It has begun.');
    const short = { ...snapshot, period: { ...period, endAt: TRIAL_END } };
    expect(decideEndUnpaid(short, END, 'incomplete_expired').periodChanged).toMatchObject({
      endAt: TRIAL_END,
    });
  });

  it('is canceled on request', () => {
    expect(decideEndUnpaid(waiting(), TRIAL_END, 'canceled')).toMatchObject({
      subscription: { status: 'canceled', canceledAt: TRIAL_END, endedAt: TRIAL_END },
      billing: null,
      events: ['canceled'],
    });
  });

  it('is neither changed nor paused', () => {
    expect(changeRefusal(waiting())).toEqual({ kind: 'not_running' });
    expect(pauseRefusal(waiting())).toEqual({ kind: 'transition', to: 'paused' });
  });

  it.each(['active', 'incomplete_expired', 'canceled'] as const)('may become %s', (to) => {
    expect(mayBecome(SUBSCRIPTION_TRANSITIONS, 'incomplete', to)).toBe(true);
  });
});
