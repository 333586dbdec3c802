import fc from 'fast-check';
import { SEED } from '../support/seed';
import { startTestApp, Story, type TestApp, verifyWholeLedger } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';
const FULL = process.env['CAMPAIGN'] === 'full';
const SEQUENCES = FULL ? 400 : 12;
const TIME_LIMIT_MS = FULL ? 1_800_000 : 180_000;

const FOREVER = { duration: 'forever' };
const REPEATING = { duration: 'repeating', duration_in_months: 2 };
const amountOff = (amount_off: number): object => ({ type: 'amount', amount_off, currency: 'USD' });

/** No percentage that lasts `once`: the first change uses it up, and only as much as it took off returns. */
const COUPONS: readonly object[] = [
  { type: 'percent', percent_off: '50', ...FOREVER },
  { type: 'percent', percent_off: '33.33', ...REPEATING },
  { ...amountOff(500), ...FOREVER },
  { ...amountOff(7_919), ...FOREVER },
  { ...amountOff(500), ...REPEATING },
  { ...amountOff(7_919), ...REPEATING },
  { ...amountOff(7_919), duration: 'once' },
];

const sold = fc.record({
  unitAmount: fc.integer({ min: 1, max: 9_999 }),
  arrearsAmount: fc.constantFrom<number>(0, 777, 1_001),
  quantity: fc.integer({ min: 1, max: 5 }),
  later: fc.array(fc.integer({ min: 6, max: 12 }), { minLength: 1, maxLength: 3 }),
  coupon: fc.constantFrom(...COUPONS),
  isEarly: fc.boolean(),
  minutes: fc.constantFrom<number>(0, 1, 20_000, 33_333),
});
type Sold = typeof sold extends fc.Arbitrary<infer Terms> ? Terms : never;

/**
 * With proration by the second, and without tax, changes at the instant at which a subscription ends with credit take no
 * time: what they charge is credited as a whole, and what they discount returns to the coupon. The short form runs 12 sequences,
 * `CAMPAIGN=full` 400. `SEED` repeats a run.
 */
describe('changes at the instant of the end', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });
  afterAll(() => engine.close());

  /** Returns what the customer is billed in all, with changes to these quantities before the end. */
  async function billed(
    { unitAmount, arrearsAmount, quantity, coupon, isEarly, minutes }: Omit<Sold, 'later'>,
    quantities: readonly number[],
  ): Promise<number> {
    made += 1;
    const code = `END${made}`;
    const created = await engine.http.post('/v1/coupons').send({ code, ...coupon });
    expect(created.body).toMatchObject({ code });
    const story = await Story.begin(engine, START);
    const seats = { name: 'Seats', model: 'per_unit', timing: 'in_advance' };
    const support = { name: 'Support', model: 'flat', timing: 'in_arrears', amount: arrearsAmount };
    const prices = [
      { ...seats, unit_amount: String(unitAmount) },
      ...(arrearsAmount === 0 ? [] : [support]),
    ];
    const { id: planId } = await story.planOf(prices, { proration: 'second' });
    const { id } = await story.subscribe(planId, {
      quantity: String(quantity),
      ...(isEarly ? { coupon: code } : {}),
    });
    if (minutes > 0) {
      await story.advance(new Date(Date.parse(START) + minutes * 60_000).toISOString());
    }
    if (!isEarly) await story.command(id, 'coupons', { code });
    for (const one of quantities) {
      await story.command(id, 'change', { when: 'now', quantity: String(one) });
    }
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    // The short form verifies the ledger once, for all sequences.
    await (FULL ? story.verify() : story.verifyInvoices());
    return (await story.invoices()).reduce((sum, { total }) => sum + total, 0);
  }

  it(
    'cost nothing, and lose no discount',
    async () => {
      process.stdout.write(`changes at the end: SEED=${SEED}\n`);
      const known: Sold = {
        ...{ unitAmount: 8_822, arrearsAmount: 777, quantity: 2, later: [8, 6] },
        ...{ coupon: { ...amountOff(7_919), ...FOREVER }, isEarly: true, minutes: 20_000 },
      };
      await fc.assert(
        fc.asyncProperty(sold, async ({ later, ...terms }) => {
          expect(await billed(terms, later)).toBe(await billed(terms, []));
        }),
        {
          seed: SEED,
          numRuns: SEQUENCES,
          examples: [[known]],
        },
      );
      await verifyWholeLedger(engine);
    },
    TIME_LIMIT_MS,
  );
});
