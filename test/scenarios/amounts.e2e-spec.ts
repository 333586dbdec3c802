import { startTestApp, Story, type TestApp } from '../support/story';

describe('the amounts of invoices', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function taxRate(percentage: string, inclusive = false): Promise<string> {
    const body = { name: 'VAT', percentage, inclusive };
    const answer = await engine.http.post('/v1/tax-rates').send(body);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  async function coupon(fields: object): Promise<string> {
    made += 1;
    const answer = await engine.http.post('/v1/coupons').send({ code: `C${made}`, ...fields });
    expect(answer.status).toBe(201);
    return `C${made}`;
  }

  it('a repeating coupon discounts the invoices of its months and no later one', async () => {
    const story = await Story.begin(engine, '2026-01-31T00:00:00.000Z');
    const code = await coupon({
      type: 'percent',
      percent_off: '25',
      duration: 'repeating',
      duration_in_months: 3,
    });
    await story.subscribe(await story.plan(999), { coupon: code });
    await story.advance('2026-05-31T00:00:00.000Z');
    expect((await story.invoices()).map(({ total }) => total)).toEqual([749, 749, 749, 999, 999]);
    await story.verify();
  });

  it('an amount coupon with duration once keeps its rest for the next invoice', async () => {
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
    const code = await coupon({
      type: 'amount',
      amount_off: 2_500,
      currency: 'USD',
      duration: 'once',
    });
    const { id } = await story.subscribe(await story.plan(1_000));
    await story.command(id, 'coupons', { code });
    await story.advance('2026-05-01T00:00:00.000Z');
    expect((await story.invoices()).map(({ discount }) => discount)).toEqual([
      0, 1_000, 1_000, 500, 0,
    ]);
    await story.verify();
  });

  it('a credit for a discounted line gives back its share of what was paid', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const code = await coupon({ type: 'percent', percent_off: '50', duration: 'once' });
    const { id } = await story.subscribe(await story.plan(3_000), { coupon: code });
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    // 29 of 30 days are unused, and 1,500 were paid.
    expect(await story.amounts()).toEqual([[3_000], [-1_450]]);
    await story.verify();
  });

  it('an invoice uses the tax rates of its own date', async () => {
    const [old, current] = [await taxRate('19'), await taxRate('21')];
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z', { tax_rate_ids: [old] });
    const { id } = await story.subscribe(await story.seats('333'), { quantity: '3' });
    await story.advance('2026-01-15T00:00:00.000Z');
    await engine.http
      .patch(`/v1/customers/${story.customerId}`)
      .send({ tax_rate_ids: [current] })
      .expect(200);
    await story.advance('2026-02-01T00:00:00.000Z');
    const [january, february] = await story.invoices();
    // 19 % of 999 is 189.81, 21 % of it 209.79.
    expect(january).toMatchObject({ subtotal: 999, tax: 190, total: 1_189 });
    expect(february).toMatchObject({ subtotal: 999, tax: 210, total: 1_209 });
    await story.command(id, 'change', { quantity: '1', when: 'now' });
    expect((await story.invoices())[2]).toMatchObject({ subtotal: -666, tax: -140, total: -806 });
    await story.verify();
  });

  it('inclusive tax is part of the lines, and exempt and reverse-charge customers pay none', async () => {
    const rate = await taxRate('20', true);
    const inclusive = await Story.begin(engine, '2026-01-01T00:00:00.000Z', {
      tax_rate_ids: [rate],
    });
    await inclusive.subscribe(await inclusive.plan(1_200));
    expect((await inclusive.invoices())[0]).toMatchObject({
      subtotal: 1_200,
      tax: 0,
      total: 1_200,
    });
    expect((await inclusive.invoices())[0]).toMatchObject({ inclusive_tax: 200 });
    await inclusive.verify();
    for (const [tax_exempt, tax_note] of [
      ['exempt', 'exempt'],
      ['reverse', 'reverse_charge'],
    ]) {
      const exclusive = await taxRate('19');
      const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z', {
        tax_exempt,
        tax_rate_ids: [exclusive],
      });
      await story.subscribe(await story.plan(1_000));
      expect((await story.invoices())[0]).toMatchObject({ tax: 0, total: 1_000, tax_note });
      await story.verify();
    }
  });

  it.each([
    ['JPY', 1_000, [1_333, -667]],
    ['USD', 1_000, [1_333, -667]],
    ['KWD', 12_345, [16_460, -8_230]],
  ])(
    'an amount in %s is prorated and rounded once, to whole minor units',
    async (currency, amount, change) => {
      const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
      const { id } = await story.subscribe(await story.plan(amount, { currency }));
      await story.advance('2026-04-11T00:00:00.000Z');
      const twice = await story.plan(2 * amount, { currency });
      await story.command(id, 'change', { plan_id: twice, when: 'now' });
      expect(await story.amounts()).toEqual([[amount], change]);
      await story.verify();
    },
  );

  it('a minimum adds a true-up to a line, and its unused part is credited with the line', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const price = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '100' };
    const limited = await story.planOf([{ ...price, minimum_amount: 600, maximum_amount: 1_500 }]);
    const { id } = await story.subscribe(limited.id, { quantity: '2' });
    await story.advance('2026-04-16T00:00:00.000Z');
    await story.command(id, 'change', { quantity: '40', when: 'now' });
    // Half of the minimum back, half of 40 seats, down to half of the maximum.
    expect(await story.amounts()).toEqual([
      [200, 400],
      [2_000, -300, -1_250],
    ]);
    await story.verify();
  });

  it('a maximum is credited by the cost of a whole period under it, not by its rounded parts', async () => {
    const story = await Story.begin(engine, '2026-05-05T00:00:00.000Z');
    const price = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '210.5' };
    const limited = await story.planOf([{ ...price, maximum_amount: 1_500 }]);
    const { id } = await story.subscribe(limited.id, { quantity: '11' });
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    // 30 of 31 days of 1,500.
    expect(await story.amounts()).toEqual([[2_316, -816], [-1_452]]);
    await story.verify();
  });

  it('graduated, volume and package prices rate the quantity of the subscription', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const tiers = [
      { up_to: '5', unit_amount: '100', flat_amount: 50 },
      { up_to: null, unit_amount: '80.5' },
    ];
    const timing = 'in_advance';
    const plan = await story.planOf([
      { name: 'Graduated', model: 'graduated', timing, tiers },
      { name: 'Volume', model: 'volume', timing, tiers },
      {
        name: 'Package',
        model: 'package',
        timing,
        unit_amount: '300',
        package_size: '3',
        free_units: '1',
      },
    ]);
    await story.subscribe(plan.id, { quantity: '8' });
    expect(await story.amounts()).toEqual([[792, 644, 900]]);
    await story.verify();
  });
});
