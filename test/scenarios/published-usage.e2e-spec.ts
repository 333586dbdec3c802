import { startTestApp, Story, type TestApp } from '../support/story';

const MARCH = '2026-03-01T00:00:00.000Z';
const APRIL = '2026-04-01T00:00:00.000Z';

/** `up_to`, unit amount and flat amount, in minor units. */
type Tier = readonly [upTo: string | null, unitAmount: string, flatAmount?: number];

const tiered = (model: 'graduated' | 'volume', ...tiers: readonly Tier[]): object => ({
  model,
  tiers: tiers.map(([up_to, unit_amount, flat_amount = 0]) => ({
    up_to,
    unit_amount,
    flat_amount,
  })),
});

const withFlats = tiered('graduated', ['10', '1000', 200], ['20', '500', 300], [null, '500', 300]);
const fine = tiered('graduated', ['0.1', '1000'], ['1', '500'], [null, '200']);

/** Cases of test/vectors/published-cases.json that run through the API: a month of usage and its invoice. */
describe('published cases of usage', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function sell(price: object, meter: Readonly<Record<string, unknown>> = {}) {
    const story = await Story.begin(engine, MARCH);
    const { id: meter_id, event } = await story.meter(meter);
    const { id } = await story.planOf([
      { name: 'Usage', timing: 'in_arrears', ...price, meter_id },
    ]);
    await story.subscribe(id);
    return { story, event };
  }

  it.each([
    [
      'T01 111 units, graduated',
      tiered('graduated', ['10', '150'], ['110', '100'], [null, '50']),
      [111],
      11_550,
    ],
    [
      'T02 111 units, all in the top tier',
      tiered('volume', ['10', '150'], ['110', '100'], [null, '50']),
      [111],
      5_550,
    ],
    ['T07 no units: the first flat amount', withFlats, [], 200],
    ['T07 1 unit', withFlats, [1], 1_200],
    ['T07 10 units', withFlats, [4, 6], 10_200],
    ['T07 11 units', withFlats, [11], 11_000],
    ['T07 12 units', withFlats, [12], 11_500],
    ['T07 21 units', withFlats, [20, 1], 16_300],
    ['T08 0.05 units', fine, ['0.05'], 50],
    ['T08 0.5 units', fine, ['0.2', 0.3], 300],
    [
      'T10 65,000 calls by volume',
      tiered(
        'volume',
        ['10000', '0.10', 1_000],
        ['50000', '0.08', 1_000],
        ['100000', '0.06', 1_000],
        [null, '0.04', 1_000],
      ),
      [65_000],
      4_900,
    ],
    [
      'T12 four transactions, three of them free',
      {
        model: 'percentage',
        rate: '0.012',
        fixed_amount: 10,
        free_units: '3',
        free_amount: 50_000,
      },
      [20_000, 10_000, 10_000, 5_000],
      70,
    ],
    [
      'T18 150 minutes in packages of 60',
      { model: 'package', unit_amount: '10', package_size: '60' },
      [100, 50],
      30,
    ],
  ] as const)('%s', async (_, price, amounts, expected) => {
    const { story, event } = await sell(price);
    for (const [index, n] of amounts.entries()) {
      await story.reportUsage(event, new Date(Date.parse(MARCH) + index).toISOString(), { n });
    }
    await story.advance(APRIL);
    expect(await story.amounts()).toEqual([[expected]]);
    await story.verify();
  });

  it('T21 150,000 calls, graduated, with 8 % tax', async () => {
    const price = tiered('graduated', ['10000', '0.1'], ['100000', '0.08'], [null, '0.05']);
    const { story, event } = await sell(price);
    const rate = await engine.http.post('/v1/tax-rates').send({ name: 'Tax', percentage: '8' });
    const { id } = rate.body as { id: string };
    await engine.http.patch(`/v1/customers/${story.customerId}`).send({ tax_rate_ids: [id] });
    await story.reportUsage(event, MARCH, { n: 150_000 });
    await story.advance(APRIL);
    expect(await story.invoices()).toMatchObject([{ subtotal: 10_700, tax: 856, total: 11_556 }]);
    await story.verify();
  });

  it('U01 a weighted sum: 2,500 held for 27 of 31 days', async () => {
    const price = { model: 'per_unit', unit_amount: '100' };
    const { story, event } = await sell(price, { aggregation: 'weighted_sum' });
    await story.advance('2026-03-05T00:00:00.000Z');
    await story.reportUsage(event, '2026-03-05T00:00:00.000Z', { n: 2_500 });
    await story.advance(APRIL);
    expect(await story.amounts()).toEqual([[217_742]]);
    await story.verify();
  });

  it('U08 re-rating: 15 units were 10 each, the 16th makes all of them 5', async () => {
    const { story, event } = await sell(tiered('volume', ['15', '10'], [null, '5']));
    await story.reportUsage(event, MARCH, { n: 15 });
    await story.advance(APRIL);
    await story.reportUsage(event, MARCH, { n: 1 });
    await story.advance('2026-05-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[150], [-70]]);
    await story.verify();
  });
});
