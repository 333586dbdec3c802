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

const secondsOf = (from: Date, to: Date): bigint => BigInt((to.getTime() - from.getTime()) / 1_000);

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

/** Applies commands to a subscription one after the other, and keeps each outcome as the database would. */
class CommandHistory {
  readonly ids: NewSubscriptionIds;
  readonly outcomes: Outcome[] = [];
  private made = 0;

  constructor(public snapshot: Snapshot) {
    const next = (): string => `new_${(this.made += 1)}`;
    this.ids = { item: next, period: next, change: next };
  }

  static begin(offer: Offer, trialEndAt: Date | null = null): CommandHistory {
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
    const history = new CommandHistory({ subscription, items: [], period: null, pending: null });
    const items = itemsOf('sub_1', offer, START, history.ids);
    history.snapshot = { ...history.snapshot, items };
    history.take(decideStart(history.snapshot, history.ids, START));
    return history;
  }

  change(offer: Offer, at: Date, prorates = true): readonly unknown[] {
    const priceIds = new Set(offer.items.map(({ price }) => price.priceId));
    return this.take(decideChangeNow(this.snapshot, offer, priceIds, prorates, at, this.ids));
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

  /** Returns the billed lines: start, end and part of each charge, and the instant of each credit. */
  private take(outcome: Outcome): readonly unknown[] {
    this.outcomes.push(outcome);
    const { itemsAdded, itemsEnded, itemsRemoved, periodOpened, periodChanged } = outcome;
    const items = this.snapshot.items
      .filter(({ id }) => !itemsRemoved.includes(id))
      .map((item) => (outcome.itemsReopened.includes(item.id) ? { ...item, endAt: null } : item))
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
  const eventsOf = ({ outcomes }: CommandHistory) => outcomes.map(({ events }) => events);
  const dayOf = (history: CommandHistory) =>
    history.snapshot.subscription.nextBillingAt?.toISOString();

  it('announces its end three days before, once', () => {
    const history = CommandHistory.begin(offer, new Date('2026-03-15T00:00:00Z'));
    expect(dayOf(history)).toBe('2026-03-12T00:00:00.000Z');
    expect(nextBillingOrEndAt(history.snapshot.subscription)).toEqual(
      new Date('2026-03-15T00:00:00Z'),
    );
    history.renew();
    expect(dayOf(history)).toBe('2026-03-15T00:00:00.000Z');
    history.renew();
    expect(eventsOf(history)).toEqual([['updated'], ['trial_ending'], ['activated']]);
  });

  it('of three days announces its end when it starts', () => {
    const history = CommandHistory.begin(offer, new Date('2026-03-04T00:00:00Z'));
    expect(dayOf(history)).toBe('2026-03-04T00:00:00.000Z');
    expect(eventsOf(history)).toEqual([['updated', 'trial_ending']]);
  });

  it('that was canceled does not announce its end', () => {
    const history = CommandHistory.begin(offer, END);
    history.cancel(CHANGE);
    expect(history.snapshot.subscription).toMatchObject({
      trialEndingAt: null,
      nextBillingAt: null,
    });
  });
});

describe('a flat price', () => {
  const base = seats({
    priceId: 'price_base',
    timing: 'in_advance',
    rating: { model: 'flat', amountMinor: 4_900n },
  });

  it('is sold once, and a change of the quantity leaves it alone', () => {
    const history = CommandHistory.begin(offerOf([base], '5'));
    expect(history.snapshot.items).toMatchObject([{ quantity: '1' }]);
    expect(history.change(offerOf([base], '8'), CHANGE)).toEqual([]);
    expect(history.snapshot.subscription.quantity).toBe('8');
    expect(history.snapshot.items).toHaveLength(1);
  });
});

describe('what is billed in arrears', () => {
  const byDay = offerOf([seats()], '2');
  const bySecond = offerOf([seats({ priceId: 'price_other' })], '2', {
    planVersionId: 'planv_2',
    proration: 'second',
  });

  it('is measured on both sides of a change as what follows was sold', () => {
    const history = CommandHistory.begin(byDay);
    history.change(bySecond, CHANGE);
    expect(history.renew()).toEqual([
      ['2', START, CHANGE, secondsOf(START, CHANGE)],
      ['2', CHANGE, END, secondsOf(CHANGE, END)],
    ]);
    const other = CommandHistory.begin(bySecond);
    other.change(byDay, CHANGE);
    expect(other.renew()).toEqual([
      ['2', START, CHANGE, 10n],
      ['2', CHANGE, END, 21n],
    ]);
  });

  it('is measured in seconds between changes by day and by second', () => {
    const history = CommandHistory.begin(byDay);
    history.change(offerOf([seats()], '3'), CHANGE);
    history.change(bySecond, LATER);
    const midnight = new Date('2026-03-11T00:00:00Z');
    expect(history.renew()).toEqual([
      ['2', START, CHANGE, 10n],
      ['3', CHANGE, LATER, secondsOf(midnight, LATER)],
      ['2', LATER, END, secondsOf(LATER, END)],
    ]);
  });

  it('is billed whole without proration where it was sold so, and not where it was not', () => {
    const sold = CommandHistory.begin(offerOf([seats()], '2', { proration: 'none' }));
    expect(sold.cancel(CHANGE)).toEqual([['2', START, CHANGE, 'whole']]);
    const changed = CommandHistory.begin(byDay);
    const none = offerOf([seats({ priceId: 'price_other' })], '2', {
      planVersionId: 'planv_2',
      proration: 'none',
    });
    changed.change(none, CHANGE, false);
    expect(changed.cancel(LATER)).toEqual([['2', START, LATER, 21n]]);
  });

  it('of the day on which a subscription ends belongs to the price of that day', () => {
    const history = CommandHistory.begin(byDay);
    history.change(offerOf([seats()], '7'), CHANGE);
    expect(history.cancel(CHANGE)).toEqual([
      ['2', START, CHANGE, 10n],
      ['7', CHANGE, CHANGE, 1n],
    ]);
  });

  it('is billed up to another interval, not again with the period that begins then', () => {
    const yearly = offerOf([seats({ priceId: 'price_year' })], '2', {
      planVersionId: 'planv_2',
      proration: 'second',
      interval: 'year',
    });
    const history = CommandHistory.begin(byDay);
    history.change(offerOf([seats()], '3'), CHANGE);
    const midnight = new Date('2026-03-11T00:00:00Z');
    expect(history.change(yearly, CHANGE)).toEqual([
      ['2', START, CHANGE, 10n],
      ['3', CHANGE, CHANGE, secondsOf(midnight, CHANGE)],
    ]);
    expect(history.cancel(LATER)).toEqual([['2', CHANGE, LATER, secondsOf(CHANGE, LATER)]]);
  });

  it('is not billed for an instant at which another interval began', () => {
    const history = CommandHistory.begin(offerOf([seats()], '2', { proration: 'none' }));
    const yearly = offerOf([seats()], '2', {
      planVersionId: 'planv_2',
      proration: 'none',
      interval: 'year',
    });
    expect(history.change(yearly, START)).toEqual([]);
  });
});

describe('a new quantity beside a postponed version', () => {
  const SOON = new Date('2026-03-23T09:00:00Z');

  const version = (
    number: 1 | 2,
    proration: ProrationMode,
    quantity: string,
    timing: SoldPrice['timing'],
  ) =>
    offerOf(
      [
        seats({
          priceId: `price_${number}`,
          timing,
          rating: { model: 'per_unit', unitAmount: `${number}00` },
        }),
      ],
      quantity,
      { planVersionId: `planv_${number}`, proration },
    );

  function begin(former: ProrationMode, next: ProrationMode, timing: SoldPrice['timing']) {
    const history = CommandHistory.begin(version(1, former, '1', timing));
    history.change(version(2, next, '1', timing), CHANGE, false);
    history.change(version(2, next, '3', timing), LATER);
    return history;
  }

  const modes = ['day', 'second', 'none'] as const;
  const pairs = modes.flatMap((former) => modes.map((next) => [former, next] as const));

  it.each(pairs)(
    'is counted by the running version, by %s, not by the postponed one, by %s',
    (former, next) => {
      const parts =
        former === 'second' ? [secondsOf(START, LATER), secondsOf(LATER, SOON)] : [20n, 3n];
      expect(begin(former, next, 'in_arrears').cancel(SOON)).toEqual([
        ['1', START, LATER, parts[0]],
        ['3', LATER, SOON, parts[1]],
      ]);
      const inAdvance = begin(former, next, 'in_advance');
      const changed = inAdvance.outcomes.at(-1);
      const unit = former === 'second' ? 'second' : 'day';
      expect(changed?.billing?.lines).toMatchObject([
        { kind: 'credit', unit },
        { kind: 'charge', quantity: '3', proration: { unit } },
      ]);
      expect(changed?.itemsEnded).toMatchObject([{ endedBy: `${unit}_change` }]);
      const running = changed?.itemsAdded.find(({ startAt }) => startAt === LATER)?.id;
      inAdvance.cancel(SOON);
      const credited = inAdvance.outcomes.at(-1)?.billing?.lines.map(({ itemId }) => itemId);
      expect(credited?.includes(running ?? '')).toBe(former !== 'none');
    },
  );

  it.each(pairs)('credits charges of void invoices alike, by %s, not by %s', (...both) => {
    const history = begin(...both, 'in_advance');
    history.change(version(2, both[1], '5', 'in_advance'), SOON);
    const unit = both[0] === 'second' ? 'second' : 'day';
    expect(history.outcomes.at(-1)?.billing?.lines).toMatchObject([
      { kind: 'credit', unit },
      { kind: 'credit', unit },
      { kind: 'charge', quantity: '5', proration: { unit } },
    ]);
  });

  it.each(pairs)('goes on with its proration, by %s, if the one by %s is undone', (...both) => {
    const [former] = both;
    const history = begin(...both, 'in_arrears');
    expect(history.change(version(1, former, '3', 'in_arrears'), SOON)).toEqual([]);
    history.renew();
    const endAt = new Date('2026-04-16T09:00:00Z');
    const part = { day: 16n, second: secondsOf(END, endAt), none: 'whole' }[former];
    expect(history.cancel(endAt)).toEqual([['3', END, endAt, part]]);
  });
});

describe('a pause', () => {
  const before = offerOf([seats()], '2');
  const after = offerOf([seats()], '5');

  it('stops what is planned to end, and a resume goes on with it until then', () => {
    const history = CommandHistory.begin(before);
    history.change(after, CHANGE, false);
    history.pause(CHANGE);
    expect(history.resume(LATER)).toEqual([]);
    expect(history.renew()).toEqual([
      ['2', START, CHANGE, 11n],
      ['2', LATER, END, 11n],
    ]);
    expect(history.snapshot.items.filter(({ endAt }) => endAt === null)).toMatchObject([
      { quantity: '5', startAt: END },
    ]);
  });

  it('beyond the period leaves only what was planned to follow', () => {
    const history = CommandHistory.begin(before);
    history.change(after, CHANGE, false);
    history.pause(CHANGE);
    expect(history.renew()).toEqual([['2', START, CHANGE, 11n]]);
    const resumedAt = new Date('2026-05-01T00:00:00Z');
    expect(history.resume(resumedAt)).toEqual([]);
    const endAt = new Date('2026-06-01T00:00:00Z');
    expect(history.renew()).toEqual([['5', resumedAt, endAt, 'whole']]);
  });

  it('twice in a period leaves a part before, between and after', () => {
    const history = CommandHistory.begin(before);
    history.pause(CHANGE);
    history.resume(LATER);
    history.pause(new Date('2026-03-23T00:00:00Z'));
    history.resume(new Date('2026-03-25T00:00:00Z'));
    expect(history.renew().map((line) => (line as unknown[])[3])).toEqual([11n, 3n, 7n]);
  });

  it('that a resume ends on the same day leaves that day to what follows', () => {
    const history = CommandHistory.begin(before);
    history.pause(CHANGE);
    history.resume(new Date('2026-03-11T10:00:00Z'));
    history.pause(new Date('2026-03-11T11:00:00Z'));
    history.resume(new Date('2026-03-11T12:00:00Z'));
    history.change(after, new Date('2026-03-11T13:00:00Z'));
    expect(history.renew().map((line) => (line as unknown[])[3])).toEqual([10n, 0n, 0n, 21n]);
  });

  it('of an older release counts as it was stored', () => {
    const history = CommandHistory.begin(before);
    history.pause(CHANGE);
    const items = history.snapshot.items.map((item) => ({ ...item, endedBy: null }));
    history.snapshot = { ...history.snapshot, items };
    history.resume(LATER);
    expect(history.renew().map((line) => (line as unknown[])[3])).toEqual([10n, 11n]);
  });
});

describe('another interval', () => {
  const price = seats({ timing: 'in_advance' });
  const monthly = offerOf([price], '2');
  const yearly = offerOf([seats({ priceId: 'price_year', timing: 'in_advance' })], '2', {
    planVersionId: 'planv_2',
    interval: 'year',
  });
  const NEXT_YEAR = new Date('2027-04-01T00:00:00Z');

  it('without proration begins with the next period, and waits until then', () => {
    const history = CommandHistory.begin(monthly);
    expect(history.change(yearly, CHANGE, false)).toEqual([]);
    expect(history.snapshot).toMatchObject({
      subscription: { interval: 'month', currentPeriodEndAt: END },
      pending: { effectiveAt: END },
    });
    expect(changeRefusal(history.snapshot)).toEqual({ kind: 'pending' });
    expect(history.renew()).toEqual([['2', END, NEXT_YEAR, 'whole']]);
    expect(history.snapshot.pending).toBeNull();
  });

  it('with proration ends the period at once', () => {
    const history = CommandHistory.begin(monthly);
    expect(history.change(yearly, CHANGE)).toEqual([
      ['credit', CHANGE, 'border'],
      ['2', CHANGE, new Date('2027-03-11T09:00:00Z'), 'whole'],
    ]);
    expect(history.snapshot.subscription.anchorAt).toEqual(CHANGE);
  });
});
