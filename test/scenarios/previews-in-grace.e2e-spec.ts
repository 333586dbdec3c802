import { startTestApp, Story, type TestApp } from '../support/story';
import { EVENTS } from '../support/stored-events';

const GRACE_HOURS = 72;

/** Fields of an invoice that its preview has as well. */
const AMOUNTS = ['subtotal', 'discount', 'tax', 'total', 'credit_applied', 'amount_due'] as const;
type Amounts = Readonly<Record<(typeof AMOUNTS)[number], number>>;

const amountsOf = (invoice: unknown): readonly number[] =>
  AMOUNTS.map((name) => (invoice as Amounts)[name]);

describe('previews while a renewal invoice waits as a draft', () => {
  let engine: TestApp;
  let codes = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Subscribes to 30.00 a month, with 5.00 of credit and a coupon, until the draft of April waits. */
  async function subscriber(coupon: object) {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', {
      invoice_grace_hours: GRACE_HOURS,
    });
    const { id } = await story.subscribe(await story.plan(3_000));
    codes += 1;
    const code = `GRACE${codes}`;
    await engine.http.post('/v1/coupons').send({ code, ...coupon });
    await story.command(id, 'coupons', { code });
    const credit = { customer_id: story.customerId, amount: 500, currency: 'USD' };
    await engine.http.post('/v1/payments').send({ ...credit, provider: 'manual' });
    await story.advance('2026-04-02T00:00:00.000Z');
    return { story, id };
  }

  const preview = (id: string, change: object) =>
    engine.http.post(`/v1/subscriptions/${id}/change?preview=true`).send(change);

  const percent = { type: 'percent', percent_off: '10', duration: 'once' };
  const amount = { type: 'amount', amount_off: 700, currency: 'USD', duration: 'forever' };

  it.each([
    ['a percentage', percent, 290, 2_900],
    ['an amount', amount, 677, 2_900],
  ])('leave to the draft what it uses of %s and of the credit', async (_, coupon, off, due) => {
    const { story, id } = await subscriber(coupon);
    const change = { when: 'now', plan_id: await story.plan(6_000) };
    const { body } = await preview(id, change);
    expect(body).toMatchObject({ reason: 'change', discount: off, amount_due: due });
    await story.command(id, 'change', change);
    const issued = (await story.invoices()).at(-1);
    expect(issued).toMatchObject({ reason: 'change', status: 'open' });
    expect(amountsOf(issued)).toEqual(amountsOf(body));
    await story.verify();
  });

  it('count a draft that is due before the next invoice', async () => {
    const { story, id } = await subscriber(percent);
    const { body } = await preview(id, { when: 'now' });
    expect(body).toMatchObject({ bills_at: '2026-05-01T00:00:00.000Z', amount_due: 3_000 });
    await story.advance('2026-05-04T00:00:00.000Z');
    const [, april, may] = await story.invoices();
    expect(april).toMatchObject({ discount: 300, credit_applied: 500, amount_due: 2_200 });
    expect(amountsOf(may)).toEqual(amountsOf(body));
    await story.verify();
  });

  it('count a draft that is finalized before the next invoice, also if that invoice waits as a draft first', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', {
      invoice_grace_hours: 48,
    });
    const coupon = { code: 'LONGGRACE', type: 'amount', amount_off: 1_300, currency: 'USD' };
    await engine.http.post('/v1/coupons').send({ ...coupon, duration: 'once' });
    const daily = await story.plan(1_000, { interval: 'day' });
    const { id } = await story.subscribe(daily, { coupon: 'LONGGRACE' });
    const credit = { customer_id: story.customerId, amount: 900, currency: 'USD' };
    await engine.http.post('/v1/payments').send({ ...credit, provider: 'manual' });
    await story.advance('2026-03-02T12:00:00.000Z');
    const change = { when: 'period_end', plan_id: await story.plan(2_000, { interval: 'day' }) };
    const { body } = await preview(id, change);
    await story.command(id, 'change', change);
    await story.advance('2026-03-05T00:00:00.000Z');
    const [, second, third] = await story.invoices();
    expect(second).toMatchObject({ discount: 300, credit_applied: 700, amount_due: 0 });
    expect(third).toMatchObject({ discount: 0, credit_applied: 200, amount_due: 1_800 });
    expect(amountsOf(body)).toEqual(amountsOf(third));
    await story.verify();
  });

  it('use the tax rates with which the draft is finalized', async () => {
    const { story, id } = await subscriber(percent);
    const rate = await engine.http.post('/v1/tax-rates').send({ name: 'VAT', percentage: '19' });
    const { id: rateId } = rate.body as { id: string };
    await engine.http.patch(`/v1/customers/${story.customerId}`).send({ tax_rate_ids: [rateId] });
    const end = { when: 'now', credit_unused: true };
    const { body } = await engine.http
      .post(`/v1/subscriptions/${id}/cancel?preview=true`)
      .send(end);
    await story.command(id, 'cancel', end);
    expect(amountsOf((await story.invoices()).at(-1))).toEqual(amountsOf(body));
    await story.verify();
  });

  it('change nothing', async () => {
    const { story, id } = await subscriber(percent);
    const written = () =>
      engine.database.query(
        `SELECT (SELECT max(next_number) FROM invoice_series) AS number, (SELECT count(*) FROM ${EVENTS}) AS events,
          (SELECT max(revision) FROM (SELECT max(version) AS revision FROM invoice) AS revised) AS version`,
      );
    const change = { when: 'now', plan_id: await story.plan(6_000) };
    const before = [await story.invoices(), await written()];
    await preview(id, change);
    await preview(id, { when: 'now' });
    expect([await story.invoices(), await written()]).toEqual(before);
  });
});
