import { createCoupon } from '../support/coupons';
import { SEED } from '../support/seed';
import {
  type Invoice,
  startTestApp,
  Story,
  type TestApp,
  verifyWholeLedger,
} from '../support/story';

/**
 * The short form runs all orders with a price per unit, and a third of those with coupons: which ones, depends on `SEED`.
 * `CAMPAIGN=full` runs all.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const MARCH = '2026-03-01T00:00:00.000Z';

/** 100 calls of March are billed on 1 April. The steps that follow, in different orders: */
type Step =
  /** The bill is voided, and later made again. */
  | 'void'
  | 'regenerate'
  /** 30 calls of March arrive late. */
  | 'late'
  /** The 100 calls are voided. */
  | 'lost'
  /** The next month begins, with its invoice. */
  | 'correct'
  /** The last invoice with late usage is voided, and later made again. */
  | 'void correction'
  | 'regenerate correction';

interface Terms {
  readonly name: string;
  readonly price: object;
  readonly coupon?: object;
  /** Percent that the coupon takes off, and of the tax. */
  readonly off?: number;
  readonly tax?: number;
  /** Returns what calls cost before both, in minor units. */
  readonly costOf: (calls: number) => number;
  readonly orders: readonly (readonly Step[])[];
}

const perUnit = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
const tiers = [
  { up_to: '40', unit_amount: '20' },
  { up_to: null, unit_amount: '10' },
];
/** Returns all orders of steps; an invoice is made again after it was voided. */
function ordersOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  if (steps.length === 0) return [[]];
  return steps
    .filter((step) => step !== 'regenerate' || !steps.includes('void'))
    .flatMap((step) => {
      const rest = ordersOf(steps.filter((one) => one !== step));
      return rest.map((others) => [step, ...others]);
    });
}

/** Returns an order, the same with a correction after each of its steps, and with one after every step. */
function withCorrections(order: readonly Step[]): readonly (readonly Step[])[] {
  const places = order.slice(0, -1).map((_, place) => place + 1);
  return [order, ...places.map((place) => order.toSpliced(place, 0, 'correct')), corrected(order)];
}

/** Returns an order with a correction after every step. */
function corrected(order: readonly Step[]): readonly Step[] {
  return order.flatMap((step): Step[] => [step, 'correct']);
}

/** Orders in which usage changed after the void, or was not corrected before it. */
const isSettledWithout = (order: readonly Step[]): boolean => {
  const since = order.slice(order.indexOf('void'));
  const before = order.slice(order.lastIndexOf('correct', order.indexOf('void')) + 1);
  return [...since, ...before].some((step) => step === 'late' || step === 'lost');
};

/** Returns all in the full form, and otherwise one of so many, beginning with one that depends on the seed. */
const oneOf = <Item>(count: number, all: readonly Item[]): readonly Item[] =>
  all.filter((_, place) => FULL || (place + SEED) % count === 0);

const ORDERS = ordersOf(['void', 'late', 'lost', 'regenerate']);
const CORRECTED = ORDERS.flatMap((order) => withCorrections(order).slice(1));
const LEFT_VOID = ordersOf(['void', 'late', 'lost'])
  .flatMap(withCorrections)
  .filter(isSettledWithout);
const CORRECTION: readonly (readonly Step[])[] = [
  ['late', 'correct', 'void correction'],
  ['late', 'correct', 'void correction', 'correct', 'regenerate correction'],
  ['late', 'correct', 'void correction', 'regenerate correction'],
  ['late', 'correct', 'void correction', 'lost'],
  ['late', 'correct', 'void correction', 'lost', 'regenerate correction'],
  ['late', 'correct', 'void correction', 'lost', 'correct', 'regenerate correction'],
  ['late', 'correct', 'void correction', 'void', 'correct', 'regenerate', 'regenerate correction'],
  ['late', 'correct', 'void', 'void correction', 'regenerate correction', 'regenerate'],
  ['late', 'correct', 'void', 'void correction', 'regenerate', 'correct', 'regenerate correction'],
  ['void', 'late', 'correct', 'void correction', 'correct', 'regenerate'],
  ['void', 'late', 'correct', 'void correction', 'regenerate', 'regenerate correction'],
  ['void', 'late', 'correct', 'void correction', 'lost', 'regenerate correction', 'regenerate'],
];

const WITH_COUPONS = oneOf(3, [...ORDERS, ...ORDERS.map(corrected), ...CORRECTION]);

const PER_UNIT: Terms = {
  name: 'a price per unit',
  price: perUnit,
  costOf: (calls) => calls * 10,
  orders: [...ORDERS, ...CORRECTED, ...LEFT_VOID, ...CORRECTION],
};
const MINIMUM: Terms = {
  name: 'a minimum',
  price: { ...perUnit, minimum_amount: 500 },
  costOf: (calls) => Math.max(500, calls * 10),
  orders: ORDERS,
};
const TERMS: readonly Terms[] = [
  PER_UNIT,
  MINIMUM,
  {
    ...PER_UNIT,
    name: 'a coupon and tax',
    coupon: { type: 'percent', percent_off: '50', duration: 'forever' },
    off: 50,
    tax: 20,
    orders: WITH_COUPONS,
  },
  ...[
    { name: 'a percentage once and tax', duration: 'once' },
    { name: 'a percentage of one month and tax', duration: 'repeating', duration_in_months: 1 },
  ].map(({ name, ...lasting }) => ({
    ...PER_UNIT,
    name,
    coupon: { type: 'percent', percent_off: '50', ...lasting },
    off: 50,
    tax: 20,
    orders: WITH_COUPONS,
  })),
  {
    name: 'tiers and tax',
    price: { name: 'Calls', model: 'graduated', timing: 'in_arrears', tiers },
    tax: 20,
    costOf: (calls) => Math.min(calls, 40) * 20 + Math.max(0, calls - 40) * 10,
    orders: ORDERS,
  },
];

describe('usage of void invoices', () => {
  let engine: TestApp;
  let meter: Awaited<ReturnType<Story['meter']>> | undefined;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
  });

  afterAll(() => engine.close());

  const post = async (path: string, body: object = {}) => {
    const { status, body: answer } = await engine.http.post(path).send(body);
    return { status, body: answer as { readonly id: string; readonly code?: string } & Invoice };
  };

  /** Ids of what many customers can have: tax rates, coupons and plans are created once. */
  const created = new Map<object | number, Promise<string>>();

  function once(key: object | number, create: () => Promise<string>): Promise<string> {
    const known = created.get(key) ?? create();
    created.set(key, known);
    return known;
  }

  const taxRate = (tax: number) =>
    once(tax, async () => {
      const rate = { name: 'VAT', percentage: String(tax), inclusive: false };
      return (await post('/v1/tax-rates', rate)).body.id;
    });

  const couponCode = (coupon: object) =>
    once(coupon, async () => (await createCoupon(engine, coupon)).code);

  const planId = (story: Story, price: object, meter_id: string) =>
    once(price, async () => (await story.planOf([{ ...price, meter_id }])).id);

  async function begin({ price, coupon, tax }: Terms) {
    const rates = tax === undefined ? [] : [await taxRate(tax)];
    const story = await Story.begin(engine, MARCH, { currency: 'USD', tax_rate_ids: rates });
    meter ??= await story.meter();
    const { event } = meter;
    const coupons = coupon === undefined ? {} : { coupon: await couponCode(coupon) };
    const terms = { collection: 'send_invoice', ...coupons };
    const { id: subscriptionId } = await story.subscribe(
      await planId(story, price, meter.id),
      terms,
    );
    const key = await story.reportUsage(event, MARCH, { n: 100 });
    await story.advance('2026-04-01T00:00:00.000Z');
    const bill = (await story.invoices()).at(-1)?.id ?? '';
    return { story, event, key, bill, subscriptionId };
  }

  const isLate = ({ description }: Invoice['lines'][number]): boolean =>
    description.endsWith('(late usage)');

  /**
   * Runs the steps, and then two months. Whenever March was billed again, and in the end, the invoices that stand come to what
   * the calls that remain cost, beside the months since, which have the costs of no call.
   */
  async function run(terms: Terms, steps: readonly Step[]) {
    const { costOf, off = 0, tax = 0 } = terms;
    const owedFor = (calls: number): number => costOf(calls) * (1 - off / 100) * (1 + tax / 100);
    const { story, event, key, bill } = await begin(terms);
    let calls = 100;
    let month = 4;
    let correction = '';
    const voided = new Set<string>();
    const next = async (): Promise<void> => {
      month += 1;
      await story.advance(new Date(Date.UTC(2026, month - 1)).toISOString());
    };
    const voidIt = async (id: string): Promise<void> => {
      const { status, body } = await post(`/v1/invoices/${id}/void`);
      if (status === 200) voided.add(id);
      // A bill that later invoices credited is not voided.
      else expect(body.code).toMatch(/^invoice_credited$|^invalid_transition$/);
    };
    const makeAgain = async (id: string): Promise<void> => {
      if (!voided.has(id)) return;
      const { status, body } = await post(`/v1/invoices/${id}/reissue`);
      if (status !== 201) expect(body.code).toBe('invoice_overtaken');
    };
    const check = async (): Promise<void> => {
      const standing = (await story.invoices()).filter(({ status }) => status !== 'void');
      expect({ month, owed: standing.reduce((sum, { total }) => sum + total, 0) }).toEqual({
        month,
        owed: Math.round(owedFor(calls) + (month - 4) * owedFor(0)),
      });
    };
    for (const step of steps) {
      if (step === 'late') {
        await story.reportUsage(event, MARCH, { n: 30 });
        calls += 30;
      }
      if (step === 'lost') {
        await post('/v1/usage-events/void', { idempotency_key: key });
        calls -= 100;
      }
      if (step === 'correct') await next();
      if (step === 'void') await voidIt(bill);
      if (step === 'regenerate') {
        await makeAgain(bill);
        if (voided.has(bill) && !voided.has(correction)) await check();
      }
      if (step === 'void correction') {
        const held = (await story.invoices()).filter(({ lines }) => lines.some(isLate));
        correction = held.at(-1)?.id ?? '';
        await voidIt(correction);
      }
      if (step === 'regenerate correction') await makeAgain(correction);
    }
    await next();
    await next();
    await check();
    // The short form verifies the ledger once, for all orders.
    await (FULL ? story.verify() : story.verifyInvoices());
  }

  const titled = (orders: readonly (readonly Step[])[]) =>
    orders.map((steps) => ({ title: steps.join(', '), steps }));

  describe.each(TERMS)('with $name are charged once', (terms) => {
    it.each(titled(terms.orders))('$title', async ({ steps }) => {
      await run(terms, steps);
    });
  });

  const shown = async (story: Story) =>
    (await story.invoices())
      .filter(({ status }) => status !== 'void')
      .map(({ lines, total }) => [lines.map(({ type, quantity }) => [type, quantity]), total]);

  it('are billed by the next invoice if the void one had nothing but a minimum', async () => {
    const { story, event, key, bill } = await begin(MINIMUM);
    await post('/v1/usage-events/void', { idempotency_key: key });
    await post(`/v1/invoices/${bill}/void`);
    const zero = (await post(`/v1/invoices/${bill}/reissue`)).body.id;
    expect(await shown(story)).toEqual([[[['minimum', null]], 500]]);
    await post(`/v1/invoices/${zero}/void`);
    await story.reportUsage(event, MARCH, { n: 70 });
    await story.advance('2026-05-01T00:00:00.000Z');
    const april = [
      [
        ['usage', '70'],
        ['minimum', null],
      ],
      1_200,
    ];
    expect(await shown(story)).toEqual([april]);
    expect((await post(`/v1/invoices/${zero}/reissue`)).body.code).toBe('invoice_overtaken');
    await story.advance('2026-06-01T00:00:00.000Z');
    expect(await shown(story)).toEqual([april, [[['minimum', null]], 500]]);
    await story.verify();
  });

  it('are billed by an invoice of their own after the end, where a correction was void', async () => {
    const { story, event, subscriptionId } = await begin(PER_UNIT);
    await story.command(subscriptionId, 'cancel', { when: 'now' });
    await story.reportUsage(event, MARCH, { n: 30 });
    await story.advance('2026-04-02T00:00:00.000Z');
    const correction = (await story.invoices()).at(-1);
    expect(correction).toMatchObject({ reason: 'late_usage', total: 300 });
    await post(`/v1/invoices/${correction?.id ?? ''}/void`);
    await story.advance('2026-04-03T00:00:00.000Z');
    const once = [
      [[['usage', '100']], 1_000],
      [[['usage', '30']], 300],
    ];
    expect(await shown(story)).toEqual(once);
    const { body } = await post(`/v1/invoices/${correction?.id ?? ''}/reissue`);
    expect(body.code).toBe('invoice_overtaken');
    await story.advance('2026-04-05T00:00:00.000Z');
    expect(await shown(story)).toEqual(once);
    await story.verify();
  });

  it('have an amount of each period once, counted again when they are billed again', async () => {
    const coupon = { type: 'amount', amount_off: 500, currency: 'USD', duration: 'forever' };
    const { story, event, key, bill } = await begin({ ...PER_UNIT, coupon });
    await post(`/v1/invoices/${bill}/void`);
    await story.reportUsage(event, MARCH, { n: 80 });
    await post('/v1/usage-events/void', { idempotency_key: key });
    expect((await post(`/v1/invoices/${bill}/reissue`)).body).toMatchObject({ total: 300 });
    await story.reportUsage(event, MARCH, { n: 10 });
    await story.advance('2026-06-01T00:00:00.000Z');
    expect(await shown(story)).toEqual([
      [[['usage', '80']], 300],
      [[['usage', '10']], 100],
    ]);
    await story.verify();
  });

  it('leave a ledger that verifies', () => verifyWholeLedger(engine));
});
