import { createCoupon } from '../support/coupons';
import { post } from '../support/requests';
import { type Invoice, startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-04-01T00:00:00.000Z';
const RANGE = { from: START, to: '2026-05-01T00:00:00.000Z' };

type Price = Readonly<Record<string, unknown>>;

/** A subscription for 3 seats, or metered calls. */
interface Subscribed {
  readonly story: Story;
  readonly id: string;
  readonly event: string;
  /** Plans with a price of another name, by interval. */
  readonly others: { readonly month: string; readonly year: string };
}

/** The sold price, another price, and what happens to a subscription. */
type Case = readonly [string, Price, Price, (of: Subscribed) => Promise<void>];

const seats = (unitAmount: string, fields: Price = {}): Price => ({
  name: 'Seats',
  model: 'per_unit',
  timing: 'in_advance',
  unit_amount: unitAmount,
  ...fields,
});
const calls = (fields: Price = {}): Price => ({
  name: 'Calls',
  model: 'per_unit',
  timing: 'in_arrears',
  unit_amount: '100',
  ...fields,
});

const change = async ({ story, id }: Subscribed, at: string, to: object): Promise<void> => {
  await story.advance(at);
  await story.command(id, 'change', { when: 'now', ...to });
};
const cancel = async ({ story, id }: Subscribed, at: string, credits: boolean): Promise<void> => {
  await story.advance(at);
  await story.command(id, 'cancel', { when: 'now', credit_unused: credits });
};
const use = async ({ story, event }: Subscribed, ...quantities: number[]): Promise<string[]> => {
  const keys: string[] = [];
  for (const n of quantities) {
    const properties = { n, region: n > 2 ? 'us' : 'eu' };
    keys.push(await story.reportUsage(event, START, properties));
  }
  return keys;
};

const FREE = seats('0');
const PAID = seats('1000');
const [ON_16TH, ON_21ST, ON_29TH] = [16, 21, 29].map((day) => `2026-04-${day}T10:30:00.000Z`) as [
  string,
  string,
  string,
];
const IN_MAY = '2026-05-03T00:00:00.000Z';
const IN_JUNE = '2026-06-03T00:00:00.000Z';
const IN_JULY = '2026-07-03T00:00:00.000Z';

const twice = async (of: Subscribed): Promise<void> => {
  await change(of, ON_16TH, { quantity: '4' });
  await change(of, ON_21ST, { quantity: '1' });
};

const CHANGES: readonly Case[] = [
  ['a new quantity', FREE, PAID, (of) => change(of, ON_16TH, { quantity: '4' })],
  ['two new quantities', FREE, PAID, twice],
  ['an amount rounded to 0', seats('0.0125'), PAID, twice],
  ['a credit rounded to 0', seats('1'), PAID, (of) => change(of, ON_29TH, { quantity: '2' })],
  ['a minimum', FREE, seats('0', { minimum_amount: 5_000 }), twice],
  ['a maximum', FREE, seats('1000', { maximum_amount: 2_500 }), twice],
  [
    'two changes at one instant',
    FREE,
    PAID,
    async (of) => {
      await change(of, ON_16TH, { quantity: '4' });
      await change(of, ON_16TH, { quantity: '5' });
    },
  ],
  ['another plan', FREE, PAID, (of) => change(of, ON_16TH, { plan_id: of.others.month })],
  ['another interval', FREE, PAID, (of) => change(of, ON_16TH, { plan_id: of.others.year })],
  [
    'another interval and an end at one instant',
    FREE,
    PAID,
    async (of) => {
      await change(of, ON_16TH, { plan_id: of.others.year });
      await cancel(of, ON_16TH, false);
    },
  ],
  [
    'a pause',
    FREE,
    PAID,
    async (of) => {
      await of.story.advance(ON_16TH);
      await of.story.command(of.id, 'pause');
      await of.story.advance(ON_21ST);
      await of.story.command(of.id, 'resume');
      await change(of, ON_29TH, { quantity: '2' });
    },
  ],
  ['an end with credit', FREE, PAID, (of) => cancel(of, ON_21ST, true)],
  ['an end without credit', FREE, PAID, (of) => cancel(of, ON_21ST, false)],
  [
    'a change and an end with credit',
    FREE,
    PAID,
    async (of) => {
      await twice(of);
      await cancel(of, ON_29TH, true);
    },
  ],
];

/** Reports usage of April on time, and more after April was billed. */
const late =
  (onTime: readonly number[], ...later: readonly number[]) =>
  async (of: Subscribed): Promise<void> => {
    await use(of, ...onTime);
    await of.story.advance(IN_MAY);
    await use(of, ...later);
    await of.story.advance(IN_JUNE);
  };
const graduated = (upTo: string, fields: Price = {}): Price =>
  calls({
    model: 'graduated',
    unit_amount: undefined,
    tiers: [
      { up_to: upTo, unit_amount: '0' },
      { up_to: null, unit_amount: '50' },
    ],
    ...fields,
  });
const percentage = (fields: Price): Price =>
  calls({ model: 'percentage', rate: '0.5', unit_amount: undefined, ...fields });
const MINIMUM = { minimum_amount: 1_000 };
const TIER_FEE = {
  model: 'graduated',
  tiers: [{ up_to: null, flat_amount: 300, unit_amount: '1' }],
};
const FEE = { name: 'Fee', model: 'flat', timing: 'in_arrears', amount: 500 };

const LATE_USAGE: readonly Case[] = [
  ['within a minimum', calls(MINIMUM), calls(), late([1, 1], 1, 1, 1)],
  ['beyond a maximum', calls({ maximum_amount: 200 }), calls(), late([2, 2], 3)],
  [
    'within a package',
    calls({ model: 'package', package_size: '10' }),
    calls({ unit_amount: '10' }),
    late([2], 3),
  ],
  ['within a free tier', graduated('10'), graduated('4'), late([2], 3)],
  ['without usage on time', graduated('10'), calls(), late([], 3)],
  ['without usage on time, within a minimum', calls(MINIMUM), calls(), late([], 3)],
  ['by group', calls({ ...MINIMUM, by_group: true }), calls({ by_group: true }), late([2], 3, 1)],
  [
    'within the minimum of a percentage',
    percentage(MINIMUM),
    percentage({ rate: '1', fixed_amount: 7 }),
    late([2], 3, 1),
  ],
  ['at a percentage instead', calls(MINIMUM), percentage({ rate: '1' }), late([2], 3, 1)],
  [
    'that is void',
    calls(MINIMUM),
    calls(),
    async (of) => {
      const [key] = await use(of, 5, 2);
      await of.story.advance(IN_MAY);
      await post(of.story.engine, '/v1/usage-events/void', { idempotency_key: key });
      await of.story.advance(IN_JUNE);
    },
  ],
  [
    'more than once',
    calls(MINIMUM),
    calls({ maximum_amount: 600 }),
    async (of) => {
      await late([1], 2)(of);
      await use(of, 3);
      await of.story.advance(IN_JULY);
    },
  ],
  [
    'that is billed at last',
    calls(MINIMUM),
    calls(),
    async (of) => {
      await late([1], 2)(of);
      await use(of, 30);
      await of.story.advance(IN_JULY);
    },
  ],
  [
    'after a change of plans',
    calls(MINIMUM),
    calls(),
    async (of) => {
      await use(of, 1);
      await change(of, ON_16TH, { plan_id: of.others.month });
      await late([], 2, 3)(of);
    },
  ],
  [
    'after the end',
    calls(MINIMUM),
    calls(),
    async (of) => {
      await use(of, 1);
      await cancel(of, ON_16TH, true);
      await late([], 2, 3)(of);
    },
  ],
];

const none = late([]);
const NO_USAGE: readonly Case[] = [
  ['within a minimum', calls(), calls(MINIMUM), none],
  ['by group', calls({ by_group: true }), calls({ ...MINIMUM, by_group: true }), none],
  ['at a percentage', percentage({}), percentage(MINIMUM), none],
  ['in a tier with a fee', graduated('10'), calls({ ...TIER_FEE, unit_amount: undefined }), none],
  [
    'before a change of plans',
    calls(),
    calls(MINIMUM),
    async (of) => {
      await change(of, ON_16TH, { plan_id: of.others.month });
      await none(of);
    },
  ],
  [
    'after late usage was taken back',
    graduated('10'),
    graduated('10', MINIMUM),
    async (of) => {
      await of.story.advance(IN_MAY);
      const [key] = await use(of, 3);
      await of.story.advance(IN_JUNE);
      await post(of.story.engine, '/v1/usage-events/void', { idempotency_key: key });
      await of.story.advance(IN_JULY);
    },
  ],
];

describe('a simulation of prices, compared with a customer who was billed at these prices', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });
  afterAll(() => engine.close());

  async function simulated(of: Story, planId: string, ...prices: Price[]): Promise<object> {
    const body = { plan_id: planId, prices, ...RANGE, customer_ids: [of.customerId] };
    const { text } = await engine.http.post('/v1/prices/simulations').send(body);
    return JSON.parse(text.split('\n')[0] ?? '') as object;
  }

  /** Returns the amounts of April, on invoices in effect, without the prices of other plans. */
  const billed = (invoices: readonly Invoice[]): number =>
    invoices
      .filter(({ status }) => status !== 'void' && status !== 'draft')
      .flatMap(({ lines }) => lines)
      .filter(({ period_start: from }) => from !== null && from >= RANGE.from && from < RANGE.to)
      .filter(({ description }) => !description.includes('Base'))
      .reduce((total, { amount }) => total + amount, 0);

  async function compare(
    [, sold, other, run]: Case,
    { proration = 'day', off = null }: { proration?: string; off?: string | null } = {},
  ): Promise<readonly [soldMinor: number, otherMinor: number]> {
    const { id: meterId, event } = await (
      await Story.begin(engine, START)
    ).meter({ group_by: ['region'] });
    const withMeter = (price: Price): Price =>
      price['timing'] === 'in_arrears' ? { ...price, meter_id: meterId } : price;
    const live = async (price: Price) => {
      const story = await Story.begin(engine, START);
      const plan = (await story.planOf([withMeter(price)], { proration })).id;
      const others = {
        month: await story.plan(700, { proration }),
        year: await story.plan(700, { proration, interval: 'year' }),
      };
      const terms = { name: 'Off', type: 'percent', duration: 'forever', percent_off: off };
      const coupon = off === null ? null : (await createCoupon(engine, terms)).code;
      const { id } = await story.subscribe(plan, { quantity: '3', coupon });
      await run({ story, id, event, others });
      return { story, plan, amount: billed(await story.invoices()) };
    };
    const [first, second] = [await live(sold), await live(other)];
    expect({
      same: await simulated(first.story, first.plan, withMeter(sold)),
      other: await simulated(first.story, first.plan, withMeter(other)),
      back: await simulated(second.story, second.plan, withMeter(sold)),
    }).toMatchObject({
      same: { old_amount: first.amount, new_amount: first.amount },
      other: { old_amount: first.amount, new_amount: second.amount },
      back: { old_amount: second.amount, new_amount: first.amount },
    });
    return [first.amount, second.amount];
  }

  it.each(CHANGES)('%s, prorated by day', async (...one) => {
    await compare(one);
  });
  it.each(CHANGES)('%s, prorated by second', async (...one) => {
    await compare(one, { proration: 'second' });
  });
  it.each(LATE_USAGE)('late usage %s', async (...one) => {
    await compare(one);
  });
  it.each(NO_USAGE)('no usage %s', async (...one) => {
    await compare(one);
  });
  it('leaves out a period without usage whose bill is void, until the bill is made again', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id } = await story.meter();
    const { id: plan } = await story.planOf([FEE, { ...calls(), meter_id }]);
    await story.subscribe(plan, { collection: 'send_invoice' });
    const prices = [FEE, { ...calls(MINIMUM), meter_id }];
    await story.advance(IN_MAY);
    const bill = (await story.invoices())[0]?.id ?? '';
    expect(await simulated(story, plan, ...prices)).toMatchObject({ new_amount: 1_500 });
    await post(engine, `/v1/invoices/${bill}/void`);
    expect(await simulated(story, plan, ...prices)).toMatchObject({ type: 'progress' });
    await post(engine, `/v1/invoices/${bill}/reissue`);
    expect(await simulated(story, plan, ...prices)).toMatchObject({ new_amount: 1_500 });
  });
  it('includes late usage that came to 0 on an invoice that is void, because the next invoice bills it again', async () => {
    const { id: meter_id, event } = await (await Story.begin(engine, START)).meter();
    const data = (unit_amount: string): Price => ({
      ...calls({ model: 'package', package_size: '5', unit_amount }),
      meter_id,
    });
    const live = async (price: Price) => {
      const story = await Story.begin(engine, START);
      const { id: plan } = await story.planOf([FEE, price]);
      await story.subscribe(plan, { collection: 'send_invoice' });
      await late([5], 6)({ story, id: '', event, others: { month: '', year: '' } });
      await post(engine, `/v1/invoices/${(await story.invoices())[1]?.id}/void`);
      await story.advance(IN_JULY);
      return { story, plan, amount: billed(await story.invoices()) };
    };
    const [free, paid] = [await live(data('0')), await live(data('111'))];
    expect({
      there: await simulated(free.story, free.plan, FEE, data('111')),
      back: await simulated(paid.story, paid.plan, FEE, data('0')),
    }).toMatchObject({
      there: { old_amount: free.amount, new_amount: paid.amount },
      back: { old_amount: paid.amount, new_amount: free.amount },
    });
  });
  it.each([
    ['of the same group', false],
    ['of another group', true],
  ])(
    'leaves out late usage %s of a void bill, until the bill is made again',
    async (_, by_group) => {
      const story = await Story.begin(engine, START);
      const { id: meter_id, event } = await story.meter({ group_by: ['region'] });
      const { id: plan } = await story.planOf([{ ...calls({ ...MINIMUM, by_group }), meter_id }]);
      await story.subscribe(plan, { collection: 'send_invoice' });
      const others = { month: '', year: '' };
      await late([2], 3)({ story, id: '', event, others });
      const bill = (await story.invoices())[0]?.id ?? '';
      await post(engine, `/v1/invoices/${bill}/void`);
      expect(await simulated(story, plan, { ...calls({ by_group }), meter_id })).toMatchObject({
        type: 'progress',
      });
      await post(engine, `/v1/invoices/${bill}/reissue`);
      const price = { ...calls({ by_group }), meter_id };
      const both = { old_amount: 1_000, new_amount: 500 };
      expect(await simulated(story, plan, price)).toMatchObject(both);
      await story.advance(IN_JULY);
      expect(await simulated(story, plan, price)).toMatchObject(both);
    },
  );

  // Discounts stay as they were, so usage that is taken back is compared without a coupon.
  it.each(LATE_USAGE.filter(([name]) => name !== 'that is void'))(
    'late usage %s, with a coupon',
    async (...one) => {
      await compare(one, { off: '25' });
    },
  );
});
