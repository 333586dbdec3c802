import { reachableFrom } from '../../../../test/support/reachable';
import { isTerminal } from '../../../core/states';
import { swapItems } from './items';
import { nextDueAt } from './due';
import type { NewSubscriptionIds } from './outcome';
import {
  SUBSCRIPTION_STATUSES,
  SUBSCRIPTION_TRANSITIONS,
  type Offer,
  type SoldPrice,
  type SubscriptionItem,
  type SubscriptionPeriod,
} from './subscription';

const START = new Date('2026-03-01T00:00:00Z');
const NOW = new Date('2026-03-11T00:00:00Z');
const END = new Date('2026-04-01T00:00:00Z');

const price = (priceId: string): SoldPrice => ({
  priceId,
  name: 'Seats',
  timing: 'in_advance',
  rating: { model: 'per_unit', unitAmount: '1000' },
  minimumMinor: null,
  maximumMinor: null,
});

const item = (id: string, quantity: string, parts: Partial<SubscriptionItem> = {}) => ({
  id,
  subscriptionId: 'sub_1',
  addonId: null,
  price: price('price_1'),
  quantity,
  proration: 'day' as const,
  startAt: START,
  endAt: null,
  isPaused: false,
  plannedEndAt: null,
  endedBy: null,
  ...parts,
});

const offer = (...quantities: readonly string[]): Offer => ({
  planId: 'plan_1',
  planVersionId: 'planv_1',
  interval: 'month',
  intervalCount: 1,
  proration: 'day',
  quantity: quantities[0] ?? '1',
  addons: [],
  items: quantities.map((quantity) => ({ addonId: null, price: price('price_1'), quantity })),
});

const BEFORE = {
  id: 'sub_1',
  planId: 'plan_1',
  planVersionId: 'planv_1',
  interval: 'month',
  intervalCount: 1,
  quantity: '1',
  addons: [],
} as const;

const newIds = (): NewSubscriptionIds => {
  let made = 0;
  const next = (): string => `new_${(made += 1)}`;
  return { item: next, period: next, change: next };
};

describe('the states of a subscription', () => {
  it('are all reached from its first', () => {
    expect([...reachableFrom(SUBSCRIPTION_TRANSITIONS, 'incomplete')].sort()).toEqual(
      [...SUBSCRIPTION_STATUSES].sort(),
    );
  });

  it('end in two', () => {
    const last = SUBSCRIPTION_STATUSES.filter((status) =>
      isTerminal(SUBSCRIPTION_TRANSITIONS, status),
    );
    expect(last).toEqual(['canceled', 'incomplete_expired']);
  });
});

describe('what falls due next', () => {
  const period: SubscriptionPeriod = {
    id: 'sp_1',
    subscriptionId: 'sub_1',
    index: 0,
    startAt: START,
    endAt: END,
    fullStartAt: START,
    fullEndAt: END,
    isTrial: false,
    isClosed: false,
  };
  const closed = { ...period, isClosed: true };

  it.each([
    ['the start', 'incomplete', null, null, START],
    ['the end of the period', 'active', period, null, END],
    ['a change before it', 'active', period, { effectiveAt: NOW }, NOW],
    ['nothing in a pause after it', 'paused', closed, null, null],
    ['an end planned for after it', 'paused', closed, { effectiveAt: END }, END],
    ['nothing after the end', 'canceled', closed, null, null],
    ['nothing after it expired', 'incomplete_expired', closed, null, null],
  ] as const)('is %s', (_, status, running, pending, expected) => {
    const left = { status, startAt: START, trialEndingAt: null, incompleteExpiresAt: null };
    expect(nextDueAt(left, running, pending)).toEqual(expected);
  });

  it('is the end of the time for a first payment, and not that of the period before it', () => {
    const expiry = { startAt: START, trialEndingAt: null, incompleteExpiresAt: END } as const;
    const short = { ...period, endAt: NOW };
    expect(nextDueAt({ ...expiry, status: 'incomplete' }, short, null)).toEqual(END);
  });

  it('is word of the end of a trial before that end', () => {
    const trial = { ...period, isTrial: true };
    const announced = { startAt: START, trialEndingAt: NOW, incompleteExpiresAt: null };
    const trialing = { ...announced, status: 'trialing' } as const;
    expect(nextDueAt(trialing, trial, null)).toEqual(NOW);
  });
});

describe('the items of an offer', () => {
  const swapFrom = (...terms: Parameters<typeof swapItems>) => {
    const { items, changes } = swapItems(...terms);
    const { itemsAdded: added, itemsEnded: ended } = changes;
    return { items, added, ended, reopened: changes.itemsReopened, removed: changes.itemsRemoved };
  };

  it('that stay as they are go on', () => {
    const swapped = swapFrom([item('si_1', '2')], offer('2'), BEFORE, NOW, newIds());
    expect(swapped).toMatchObject({ added: [], ended: [], removed: [] });
  });

  it.each([
    ['goes on in another version of the plan', {}, {}, 0],
    ['goes on with its decimals written differently', {}, { unitAmount: '1000.0' }, 0],
    ['ends where the amount differs', {}, { unitAmount: '1000.1' }, 1],
    ['ends in another plan', { planId: 'plan_2' }, {}, 1],
    ['ends with another interval', { intervalCount: 3 }, {}, 1],
    ['ends with another proration', { proration: 'none' }, {}, 1],
  ] as const)('with the same terms and another id %s', (_, terms, rating, ended) => {
    const of = price('price_2');
    const equal = { ...of, rating: { ...of.rating, ...rating } };
    const offered = { ...offer('2'), planVersionId: 'planv_2', ...terms };
    const items = [{ addonId: null, price: equal, quantity: '2' }];
    const swapped = swapFrom([item('si_1', '2')], { ...offered, items }, BEFORE, NOW, newIds());
    expect([swapped.added.length, swapped.ended.length]).toEqual([ended, ended]);
  });

  it.each(['0815', '123456789012345678901'])('that have the name %s go on', (name) => {
    const [held, equal] = [price('price_1'), price('price_2')].map((one) => ({ ...one, name }));
    const offered = { ...offer('2'), planVersionId: 'planv_2' };
    const items = [{ addonId: null, price: equal ?? price('price_2'), quantity: '2' }];
    const running = item('si_1', '2', { price: held });
    const swapped = swapFrom([running], { ...offered, items }, BEFORE, NOW, newIds());
    expect(swapped).toMatchObject({ added: [], ended: [], removed: [] });
  });

  it('of another quantity end, and start again', () => {
    const swapped = swapFrom([item('si_1', '2')], offer('5'), BEFORE, NOW, newIds());
    expect(swapped.ended).toEqual([
      { id: 'si_1', endAt: NOW, isPaused: false, plannedEndAt: null, endedBy: null },
    ]);
    expect(swapped.added).toMatchObject([{ id: 'new_1', quantity: '5', startAt: NOW }]);
  });

  it('that were planned for later are dropped', () => {
    const items = [item('si_1', '2', { endAt: END }), item('si_2', '7', { startAt: END })];
    const swapped = swapFrom(items, offer('3'), BEFORE, NOW, newIds());
    expect(swapped).toMatchObject({ removed: ['si_2'], ended: [{ id: 'si_1', endAt: NOW }] });
  });

  it('of the past stay what they were', () => {
    const items = [item('si_1', '2', { endAt: START }), item('si_2', '7')];
    const swapped = swapFrom(items, offer('7'), BEFORE, NOW, newIds());
    expect(swapped).toMatchObject({ added: [], ended: [], removed: [] });
  });

  describe('after a change to another plan without proration', () => {
    const held = { ...BEFORE, planId: 'plan_2', planVersionId: 'planv_2', quantity: '2' };
    const former = price('price_1');
    const rating = { model: 'per_unit', unitAmount: '3000' } as const;
    const next = { ...price('price_2'), rating };
    const items = [
      item('si_1', '2', { price: former, endAt: END }),
      item('si_2', '2', { price: next, startAt: END }),
    ];
    const offerFor = (version: 1 | 2, quantity: string, addons: Offer['addons'] = []): Offer => ({
      ...offer(quantity),
      planId: `plan_${version}`,
      planVersionId: `planv_${version}`,
      addons,
      items: [
        { addonId: null, price: version === 1 ? former : next, quantity },
        ...addons.map(({ addonId, quantity: count }) => ({
          addonId,
          price: price('price_addon'),
          quantity: count,
        })),
      ],
    });
    const swap = (to: Offer) => swapFrom(items, to, held, NOW, newIds());

    it('stay as planned if plan and quantity stay', () => {
      const swapped = swap(offerFor(2, '2.0', [{ addonId: 'addon_1', quantity: '1' }]));
      expect(swapped).toMatchObject({ ended: [], reopened: [], removed: [] });
      expect(swapped.added).toMatchObject([{ addonId: 'addon_1', startAt: NOW, endAt: null }]);
    });

    it('keep their prices until the end of the period for another quantity', () => {
      const swapped = swap(offerFor(2, '5'));
      expect(swapped).toMatchObject({ ended: [{ id: 'si_1', endAt: NOW }], removed: ['si_2'] });
      expect(swapped.added).toMatchObject([
        { price: next, quantity: '5', startAt: END, endAt: null },
        { price: former, quantity: '5', startAt: NOW, endAt: END },
      ]);
    });

    it('continue if the plan is changed back', () => {
      const swapped = swap(offerFor(1, '2'));
      expect(swapped).toMatchObject({
        added: [],
        ended: [],
        reopened: ['si_1'],
        removed: ['si_2'],
      });
      expect(swapped.items).toEqual([item('si_1', '2', { price: former })]);
    });

    it('are replaced by those of a third plan', () => {
      const third = { ...offerFor(1, '2'), planVersionId: 'planv_3', planId: 'plan_3' };
      const swapped = swap({
        ...third,
        items: [{ addonId: null, price: price('price_3'), quantity: '2' }],
      });
      expect(swapped).toMatchObject({ ended: [{ id: 'si_1', endAt: NOW }], removed: ['si_2'] });
      expect(swapped.added).toMatchObject([{ quantity: '2', startAt: NOW, endAt: null }]);
    });
  });

  it('of an add-on that ends with the period stay until then, and continue if it is added again', () => {
    const addon = { addonId: 'addon_1', price: price('price_addon') };
    const items = [item('si_1', '1'), item('si_2', '3', { ...addon, endAt: END })];
    const more = swapFrom(items, offer('4'), BEFORE, NOW, newIds());
    expect(more).toMatchObject({ ended: [{ id: 'si_1' }], reopened: [], removed: [] });
    const again = {
      ...offer('1'),
      addons: [{ addonId: 'addon_1', quantity: '3' }],
      items: [...offer('1').items, { ...addon, quantity: '3' }],
    };
    const swapped = swapFrom(items, again, BEFORE, NOW, newIds());
    expect(swapped).toMatchObject({ added: [], ended: [], reopened: ['si_2'], removed: [] });
  });

  it('with a quantity that waits for the next period get another one at once', () => {
    const held = { ...BEFORE, quantity: '7' };
    const items = [item('si_1', '2', { endAt: END }), item('si_2', '7', { startAt: END })];
    const same = swapFrom(items, offer('7'), held, NOW, newIds());
    expect(same).toMatchObject({ added: [], ended: [], reopened: [], removed: [] });
    const back = swapFrom(items, offer('2'), held, NOW, newIds());
    expect(back).toMatchObject({ added: [], ended: [], reopened: ['si_1'], removed: ['si_2'] });
  });
});
