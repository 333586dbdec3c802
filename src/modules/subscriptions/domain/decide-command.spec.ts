import { decideStart, decideDue, decideEnd } from './decide';
import { itemsOf } from './items';
import { changeRefusal, decideChangeNow, decidePause, decideResume } from './decide-command';
import type { NewSubscriptionIds, Outcome } from './outcome';
import {
  nextBillingOrEndAt,
  type Offer,
  type ProrationMode,
  type Snapshot,
  type SoldPrice,
  type Subscription,
} from './subscription';

const START = new Date('2026-03-01T00:00:00Z');
const CHANGE = new Date('2026-03-11T09:00:00Z');
const LATER = new Date('2026-03-21T09:00:00Z');
const END = new Date('2026-04-01T00:00:00Z');

const seats = (parts: Partial<SoldPrice> = {}): SoldPrice => ({
  priceId: 'price_seats',
  name: 'Seats',
  timing: 'in_arrears',
  rating: { model: 'per_unit', unitAmount: '100' },
  minimumMinor: null,
  maximumMinor: null,
  ...parts,
});

const offerOf = (prices: readonly SoldPrice[], quantity: string, parts: Partial<Offer> = {}) => ({
  planId: 'plan_1',
  planVersionId: 'planv_1',
  interval: 'month' as const,
  intervalCount: 1,
  proration: 'day' as ProrationMode,
  quantity,
  addons: [],
  items: prices.map((price) => ({ addonId: null, price, quantity })),
  ...parts,
});

/** Applies commands to a subscription one after the other, and takes over each outcome as the database would. */
class Life {
  readonly ids: NewSubscriptionIds;
  readonly outcomes: Outcome[] = [];
  private made = 0;

  constructor(public snapshot: Snapshot) {
    const next = (): string => `new_${(this.made += 1)}`;
    this.ids = { item: next, period: next, change: next };
  }

  static begin(offer: Offer, trialEndAt: Date | null = null): Life {
    const { planId, planVersionId, interval, intervalCount, proration, quantity } = offer;
    const subscription: Subscription = {
      ...{ planId, planVersionId, interval, intervalCount, proration, quantity, addons: [] },
      id: 'sub_1',
      version: 1,
      customerId: 'cus_1',
      testClockId: null,
      status: 'incomplete',
      currency: 'USD',
      timeZone: 'UTC',
      collection: 'automatic',
      daysUntilDue: 0,
      paymentBehavior: 'allow_active',
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
    const life = new Life({ subscription, items: [], period: null, pending: null });
    const items = itemsOf('sub_1', offer, START, life.ids);
    life.snapshot = { ...life.snapshot, items };
    life.take(decideStart(life.snapshot, life.ids, START));
    return life;
  }

  change(offer: Offer, at: Date, prorates = true): readonly unknown[] {
    return this.take(decideChangeNow(this.snapshot, offer, prorates, at, this.ids));
  }

  pause(at: Date): void {
    this.take(decidePause(this.snapshot, at));
  }

  resume(at: Date): readonly unknown[] {
    return this.take(decideResume(this.snapshot, at, this.ids));
  }

  cancel(at: Date): readonly unknown[] {
    return this.take(decideEnd(this.snapshot, at, 'termination', true));
  }

  renew(): readonly unknown[] {
    return this.take(decideDue(this.snapshot, this.ids, END));
  }

  /** Returns the lines that are billed: from, to and the part of each charge, and the instant of each credit. */
  private take(outcome: Outcome): readonly unknown[] {
    this.outcomes.push(outcome);
    const { itemsAdded, itemsEnded, itemsRemoved, periodOpened, periodChanged } = outcome;
    const items = this.snapshot.items
      .filter(({ id }) => !itemsRemoved.includes(id))
      .map((item) => ({ ...item, ...itemsEnded.find(({ id }) => id === item.id) }));
    const pending = outcome.scheduled ?? (outcome.settled === null ? this.snapshot.pending : null);
    this.snapshot = {
      subscription: outcome.subscription,
      items: [...items, ...itemsAdded],
      period: periodOpened ?? periodChanged ?? this.snapshot.period,
      pending,
    };
    return (outcome.billing?.lines ?? []).map((line) => {
      if (line.kind === 'credit') return ['credit', line.unusedFrom, line.end];
      const { proration, period } = line;
      return [
        line.kind === 'usage' ? 'usage' : line.quantity,
        period.startAt,
        period.endAt,
        proration?.numerator ?? 'whole',
      ];
    });
  }
}

describe('a trial', () => {
  const offer = offerOf([seats()], '2');
  const eventsOf = ({ outcomes }: Life) => outcomes.map(({ events }) => events);
  const dayOf = (life: Life) => life.snapshot.subscription.nextBillingAt?.toISOString();

  it('announces its end three days before, once', () => {
    const life = Life.begin(offer, new Date('2026-03-15T00:00:00Z'));
    expect(dayOf(life)).toBe('2026-03-12T00:00:00.000Z');
    expect(nextBillingOrEndAt(life.snapshot.subscription)).toEqual(
      new Date('2026-03-15T00:00:00Z'),
    );
    life.renew();
    expect(dayOf(life)).toBe('2026-03-15T00:00:00.000Z');
    life.renew();
    expect(eventsOf(life)).toEqual([['updated'], ['trial_ending'], ['activated']]);
  });

  it('of three days announces its end when it starts', () => {
    const life = Life.begin(offer, new Date('2026-03-04T00:00:00Z'));
    expect(dayOf(life)).toBe('2026-03-04T00:00:00.000Z');
    expect(eventsOf(life)).toEqual([['updated', 'trial_ending']]);
  });

  it('that was canceled does not announce its end', () => {
    const life = Life.begin(offer, END);
    life.cancel(CHANGE);
    expect(life.snapshot.subscription).toMatchObject({ trialEndingAt: null, nextBillingAt: null });
  });
});

describe('a flat price', () => {
  const base = seats({
    priceId: 'price_base',
    timing: 'in_advance',
    rating: { model: 'flat', amountMinor: 4_900n },
  });

  it('is sold once, and a change of the quantity leaves it alone', () => {
    const life = Life.begin(offerOf([base], '5'));
    expect(life.snapshot.items).toMatchObject([{ quantity: '1' }]);
    expect(life.change(offerOf([base], '8'), CHANGE)).toEqual([]);
    expect(life.snapshot.subscription.quantity).toBe('8');
    expect(life.snapshot.items).toHaveLength(1);
  });
});

describe('what is billed in arrears', () => {
  const byDay = offerOf([seats()], '2');
  const bySecond = offerOf([seats({ priceId: 'price_other' })], '2', { proration: 'second' });

  const secondsOf = (from: Date, to: Date): bigint =>
    BigInt((to.getTime() - from.getTime()) / 1_000);

  it('is measured on both sides of a change as what follows was sold', () => {
    const life = Life.begin(byDay);
    life.change(bySecond, CHANGE);
    expect(life.renew()).toEqual([
      ['2', START, CHANGE, secondsOf(START, CHANGE)],
      ['2', CHANGE, END, secondsOf(CHANGE, END)],
    ]);
    const other = Life.begin(bySecond);
    other.change(byDay, CHANGE);
    expect(other.renew()).toEqual([
      ['2', START, CHANGE, 10n],
      ['2', CHANGE, END, 21n],
    ]);
  });

  it('is measured in seconds between changes by day and by second', () => {
    const life = Life.begin(byDay);
    life.change(offerOf([seats()], '3'), CHANGE);
    life.change(bySecond, LATER);
    const midnight = new Date('2026-03-11T00:00:00Z');
    expect(life.renew()).toEqual([
      ['2', START, CHANGE, 10n],
      ['3', CHANGE, LATER, secondsOf(midnight, LATER)],
      ['2', LATER, END, secondsOf(LATER, END)],
    ]);
  });

  it('is billed whole without proration where it was sold so, and not where it was not', () => {
    const sold = Life.begin(offerOf([seats()], '2', { proration: 'none' }));
    expect(sold.cancel(CHANGE)).toEqual([['2', START, CHANGE, 'whole']]);
    const changed = Life.begin(byDay);
    const none = offerOf([seats({ priceId: 'price_other' })], '2', { proration: 'none' });
    changed.change(none, CHANGE, false);
    expect(changed.cancel(LATER)).toEqual([['2', START, LATER, 21n]]);
  });

  it('of the day on which a subscription ends belongs to the price of that day', () => {
    const life = Life.begin(byDay);
    life.change(offerOf([seats()], '7'), CHANGE);
    expect(life.cancel(CHANGE)).toEqual([
      ['2', START, CHANGE, 10n],
      ['7', CHANGE, CHANGE, 1n],
    ]);
  });

  it('is not billed for an instant at which another interval began', () => {
    const life = Life.begin(offerOf([seats()], '2', { proration: 'none' }));
    const yearly = offerOf([seats()], '2', { proration: 'none', interval: 'year' });
    expect(life.change(yearly, START)).toEqual([]);
  });
});

describe('a pause', () => {
  const before = offerOf([seats()], '2');
  const after = offerOf([seats()], '5');

  it('stops what is planned to end, and a resume goes on with it until then', () => {
    const life = Life.begin(before);
    life.change(after, CHANGE, false);
    life.pause(CHANGE);
    expect(life.resume(LATER)).toEqual([]);
    expect(life.renew()).toEqual([
      ['2', START, CHANGE, 11n],
      ['2', LATER, END, 11n],
    ]);
    expect(life.snapshot.items.filter(({ endAt }) => endAt === null)).toMatchObject([
      { quantity: '5', startAt: END },
    ]);
  });

  it('beyond the period leaves only what was planned to follow', () => {
    const life = Life.begin(before);
    life.change(after, CHANGE, false);
    life.pause(CHANGE);
    expect(life.renew()).toEqual([['2', START, CHANGE, 11n]]);
    const resumedAt = new Date('2026-05-01T00:00:00Z');
    expect(life.resume(resumedAt)).toEqual([]);
    const endAt = new Date('2026-06-01T00:00:00Z');
    expect(life.renew()).toEqual([['5', resumedAt, endAt, 'whole']]);
  });

  it('twice in a period leaves a part before, between and after', () => {
    const life = Life.begin(before);
    life.pause(CHANGE);
    life.resume(LATER);
    life.pause(new Date('2026-03-23T00:00:00Z'));
    life.resume(new Date('2026-03-25T00:00:00Z'));
    expect(life.renew().map((line) => (line as unknown[])[3])).toEqual([11n, 3n, 7n]);
  });

  it('that a resume ends on the same day leaves that day to what follows', () => {
    const life = Life.begin(before);
    life.pause(CHANGE);
    life.resume(new Date('2026-03-11T10:00:00Z'));
    life.pause(new Date('2026-03-11T11:00:00Z'));
    life.resume(new Date('2026-03-11T12:00:00Z'));
    life.change(after, new Date('2026-03-11T13:00:00Z'));
    expect(life.renew().map((line) => (line as unknown[])[3])).toEqual([10n, 0n, 0n, 21n]);
  });

  it('of an older release counts as it was stored', () => {
    const life = Life.begin(before);
    life.pause(CHANGE);
    const items = life.snapshot.items.map((item) => ({ ...item, endedBy: null }));
    life.snapshot = { ...life.snapshot, items };
    life.resume(LATER);
    expect(life.renew().map((line) => (line as unknown[])[3])).toEqual([10n, 11n]);
  });
});

describe('another interval', () => {
  const price = seats({ timing: 'in_advance' });
  const monthly = offerOf([price], '2');
  const yearly = offerOf([seats({ priceId: 'price_year', timing: 'in_advance' })], '2', {
    interval: 'year',
  });
  const NEXT_YEAR = new Date('2027-04-01T00:00:00Z');

  it('without proration begins with the next period, and waits until then', () => {
    const life = Life.begin(monthly);
    expect(life.change(yearly, CHANGE, false)).toEqual([]);
    expect(life.snapshot).toMatchObject({
      subscription: { interval: 'month', currentPeriodEndAt: END },
      pending: { effectiveAt: END },
    });
    expect(changeRefusal(life.snapshot)).toEqual({ kind: 'pending' });
    expect(life.renew()).toEqual([['2', END, NEXT_YEAR, 'whole']]);
    expect(life.snapshot.pending).toBeNull();
  });

  it('with proration ends the period at once', () => {
    const life = Life.begin(monthly);
    expect(life.change(yearly, CHANGE)).toEqual([
      ['credit', CHANGE, 'border'],
      ['2', CHANGE, new Date('2027-03-11T09:00:00Z'), 'whole'],
    ]);
    expect(life.snapshot.subscription.anchorAt).toEqual(CHANGE);
  });
});
