import { post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const perUnit = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1000' };

/** Ten calls at 10.00 in March, billed and paid on 1 April. Some are then voided. */
describe('corrections of usage whose payment was refunded', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function paid(customer: Readonly<Record<string, unknown>> = {}) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD', ...customer });
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([{ ...perUnit, meter_id }]);
    const subscription = await story.subscribe(planId, { collection: 'send_invoice' });
    const keys = new Map<string, string>();
    const use = async (day: string, n: number) => {
      keys.set(day, await story.reportUsage(event, on(day), { n }));
    };
    await story.advance(on('03-12'));
    for (let day = 2; day < 12; day += 1) await use(`03-${String(day).padStart(2, '0')}`, 1);
    await story.advance(on('04-01'));
    const invoice = (await story.invoices()).at(-1)?.id ?? '';
    const { body } = await engine.http
      .post(`/v1/invoices/${invoice}/pay`)
      .send({ provider: 'sandbox', payment_method_id: 'pm_sandbox_ok' });
    const { id: payment, amount } = body as { id: string; amount: number };
    return { story, subscription, invoice, payment, amount, keys, use };
  }
  type Paid = Awaited<ReturnType<typeof paid>>;

  const refund = async ({ payment }: Paid, amount: number): Promise<object> =>
    (await engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount })).body as object;
  const voidUsage = async ({ keys }: Paid, ...days: readonly string[]): Promise<void> => {
    for (const day of days) {
      const idempotency_key = keys.get(day);
      const { status } = await engine.http.post('/v1/usage-events/void').send({ idempotency_key });
      expect(status).toBe(200);
    }
  };
  /** Bills what is late and returns the balance. */
  const balanceAt = async ({ story }: Paid, day: string): Promise<number> => {
    await story.advance(on(day));
    await story.verify();
    const { body } = await engine.http.get(`/v1/customers/${story.customerId}/balance`);
    return (body as { balance: number }).balance;
  };
  const late = async ({ story }: Paid): Promise<readonly number[]> =>
    (await story.invoices())
      .slice(1)
      .flatMap(({ lines }) => lines)
      .flatMap(({ type, amount }) => (type === 'usage' ? [amount] : []))
      .filter((amount) => amount !== 0);

  it('give back what was not refunded', async () => {
    const life = await paid();
    expect(life.amount).toBe(10_000);
    expect(await refund(life, 7_000)).toMatchObject({ status: 'succeeded' });
    await voidUsage(life, '03-02', '03-03', '03-04', '03-05');
    expect(await balanceAt(life, '05-01')).toBe(3_000);
    expect(await refund(life, 3_001)).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 3_000,
    });
  });

  it('give back their whole amount if the refund left that much', async () => {
    const life = await paid();
    expect(await refund(life, 7_000)).toMatchObject({ status: 'succeeded' });
    await voidUsage(life, '03-02', '03-03');
    expect(await balanceAt(life, '05-01')).toBe(2_000);
  });

  it('give back nothing after a refund of all; usage that is reported again is billed again', async () => {
    const life = await paid();
    expect(await refund(life, 10_000)).toMatchObject({ status: 'succeeded' });
    await voidUsage(life, '03-02', '03-03');
    expect(await balanceAt(life, '05-01')).toBe(0);
    await life.use('03-20', 1);
    expect(await balanceAt(life, '06-01')).toBe(0);
    expect(await late(life)).toEqual([1_000]);
  });

  it('lower the refundable amount', async () => {
    const life = await paid();
    await voidUsage(life, '03-02', '03-03', '03-04');
    expect(await balanceAt(life, '05-01')).toBe(3_000);
    expect(await refund(life, 10_001)).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 10_000,
    });
    expect(await refund(life, 7_000)).toMatchObject({ status: 'succeeded' });
    await voidUsage(life, '03-05');
    expect(await balanceAt(life, '06-01')).toBe(3_000);
  });

  it.each([
    ['on top', false, 12_000, 6_000],
    ['included', true, 10_000, 5_000],
  ])('give back what was not refunded with its tax, %s', async (_, inclusive, paidMinor, half) => {
    const rate = await engine.http
      .post('/v1/tax-rates')
      .send({ name: 'VAT', percentage: '20', inclusive });
    const life = await paid({ tax_rate_ids: [(rate.body as { id: string }).id] });
    expect(life.amount).toBe(paidMinor);
    expect(await refund(life, half)).toMatchObject({ status: 'succeeded' });
    await voidUsage(life, '03-02', '03-03', '03-04', '03-05', '03-06', '03-07');
    expect(await balanceAt(life, '05-01')).toBe(half);
  });

  it('and a concurrent refund give back no more than was paid', async () => {
    const life = await paid();
    await voidUsage(life, '03-02', '03-03', '03-04', '03-05', '03-06', '03-07');
    const [answer] = await Promise.all([refund(life, 8_000), life.story.advance(on('05-01'))]);
    const refunded = (answer as { status?: string }).status === 'succeeded' ? 8_000 : 0;
    const balance = await balanceAt(life, '05-02');
    expect([balance, refunded]).toEqual(refunded === 0 ? [6_000, 0] : [2_000, 8_000]);
  });

  it('of an ended subscription give back what was not refunded', async () => {
    const life = await paid();
    await life.story.command(life.subscription.id, 'cancel', { when: 'now' });
    expect(await refund(life, 9_000)).toMatchObject({ status: 'succeeded' });
    await voidUsage(life, '03-02', '03-03');
    expect(await balanceAt(life, '04-02')).toBe(1_000);
    const [, ...others] = await life.story.invoices();
    expect(others.map(({ reason }) => reason)).toContain('late_usage');
  });
});

/** 14 calls at 0.01 in March with 10 % tax, billed with the base of April, and 14 late ones, billed with that of May. */
describe('corrections of usage that two invoices billed', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it.each([
    ['all that is left if nothing was refunded', 'nothing', -28, -2],
    ['all that is left if refunds only paid out a credit note', 'the note', -28, -2],
    ['all that is left if another refund left just that', 'the base', -28, -2],
    ['the most that fits after a refund of one cent more', 'more', -27, -2],
  ])('give back %s', async (_, refunded, amount, tax) => {
    const rate = { name: 'VAT', percentage: '10', inclusive: false };
    const { id: rateId } = await post(engine, '/v1/tax-rates', rate);
    const story = await Story.begin(engine, on('03-01'), { tax_rate_ids: [rateId] });
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 },
      { ...perUnit, unit_amount: '1', meter_id },
    ]);
    await story.subscribe(planId, { collection: 'send_invoice' });
    const keys = [await story.reportUsage(event, on('03-01'), { n: 14 })];
    await story.advance(on('04-01'));
    keys.push(await story.reportUsage(event, on('03-01'), { n: 14 }));
    await story.advance(on('05-01'));
    const invoice = (await story.invoices()).at(-1);
    expect(invoice).toMatchObject({ subtotal: 3_014, tax: 301 });
    const pay = { provider: 'sandbox', payment_method_id: 'pm_sandbox_ok' };
    const payment = await post(engine, `/v1/invoices/${invoice?.id}/pay`, pay);
    const base = { invoice_line_id: invoice?.lines[0]?.id, amount: 3_000 };
    const credit_note = { lines: [base], reason: 'Outage' };
    const how = {
      nothing: null,
      'the note': { credit_note, amount: 3_300 },
      'the base': { amount: 3_300 },
      more: { amount: 3_301 },
    };
    const refund = how[refunded as keyof typeof how];
    if (refund !== null) {
      const made = await post(engine, `/v1/refunds/payment/${payment.id}`, refund);
      expect(made).toMatchObject({ amount: refund.amount, status: 'succeeded' });
    }
    for (const idempotency_key of keys) {
      await engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);
    }
    await story.advance(on('06-01'));
    const corrections = ((await story.invoices()).at(-1)?.lines ?? []).slice(1);
    expect(corrections).toMatchObject([{ quantity: '-28', amount, tax }]);
    await story.verify();
  });
});
