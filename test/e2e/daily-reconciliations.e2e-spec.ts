import { DueReconciliations } from '../../src/modules/reconciliations/due-reconciliations';
import { ReconciliationsService } from '../../src/modules/reconciliations/reconciliations.service';
import { createCustomer } from '../support/billing';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { startTestApp, type TestApp } from '../support/test-app';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Run {
  readonly id: string;
  readonly status: string;
  readonly from: string;
  readonly differences_found: number;
}

describe('the daily comparison with the provider', () => {
  let engine: TestApp;
  let stripe: StripeDouble;

  beforeEach(async () => {
    stripe = await startStripeDouble({ now: () => engine.clock.now() });
    engine = await startTestApp({
      plantsObjects: true,
      environment: {
        PAYMENT_PROVIDERS: 'stripe',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_API_URL: stripe.url,
      },
    });
  });

  afterEach(async () => {
    await engine.close();
    await stripe.close();
  });

  const start = (fields: object = {}) =>
    engine.http.post('/v1/reconciliations').send({ provider: 'stripe', ...fields });
  const startDaily = () => engine.app.get(ReconciliationsService).startDaily();

  /** Returns the runs, newest first. */
  async function runs(): Promise<readonly Run[]> {
    const listed = await engine.http.get('/v1/reconciliations').expect(200);
    return (listed.body as { data: readonly Run[] }).data;
  }

  /** Runs steps until no comparison is running. */
  async function finish(): Promise<void> {
    const due = engine.app.get(DueReconciliations);
    for (let steps = 0; steps < 60; steps += 1) {
      if ((await runs()).every(({ status }) => status !== 'running')) return;
      await due.runDue();
      await due.idle();
    }
    throw new Error('A comparison does not end.');
  }

  /** Compares an hour long ago, in which nothing was charged. */
  async function compareOldHour(): Promise<void> {
    await start({ from: '2020-01-01T00:00:00Z', to: '2020-01-01T01:00:00Z' }).expect(201);
    await finish();
  }

  async function aheadBy(ms: number, act: () => Promise<unknown>): Promise<void> {
    engine.clock.advanceMs(ms);
    await act();
    engine.clock.advanceMs(-ms);
  }

  /** Returns the differences by the metric and by the verification of the ledger. */
  async function shown(): Promise<readonly [string | undefined, number | undefined]> {
    const metric = /reconciliation_differences\{provider="stripe"\} (\d+)/;
    const { text } = await engine.http.get('/metrics');
    const { body } = await engine.http.get('/v1/ledger/verify');
    const { last_reconciliation: last } = body as { last_reconciliation: Run | null };
    return [metric.exec(text)?.[1], last?.differences_found];
  }

  it('is begun once a day', async () => {
    const begun = async () => {
      await Promise.all([startDaily(), startDaily()]);
      await finish();
      return (await runs()).length;
    };
    expect(await begun()).toBe(1);
    engine.clock.advanceMs(23 * HOUR_MS);
    expect(await begun()).toBe(1);
    engine.clock.advanceMs(HOUR_MS);
    expect(await begun()).toBe(2);
  });

  it('stays due, and its differences stay shown, after a comparison of another period', async () => {
    const customer_id = await createCustomer(engine);
    await engine.http
      .post(`/v1/customers/${customer_id}/payment-methods`)
      .send({ provider: 'stripe', token: 'pm_card_visa' })
      .expect(201);
    const payment = { customer_id, amount: 1_000, currency: 'USD' };
    await engine.http.post('/v1/payments').send(payment).expect(201);
    await engine.database.query('UPDATE payment SET amount = 1001');
    engine.clock.advanceMs(HOUR_MS);
    await startDaily();
    await finish();
    expect(await shown()).toEqual(['1', 1]);
    engine.clock.advanceMs(23 * HOUR_MS);
    await compareOldHour();
    const now = engine.clock.now().getTime();
    const nextDays = { to: new Date(now + 7 * DAY_MS).toISOString() };
    await start({ from: new Date(now).toISOString(), ...nextDays }).expect(201);
    await finish();
    expect(await shown()).toEqual(['1', 1]);
    engine.clock.advanceMs(2 * HOUR_MS);
    await startDaily();
    expect(await runs()).toHaveLength(4);
  });

  it('is put off by a comparison of the same days', async () => {
    await start().expect(201);
    await finish();
    engine.clock.advanceMs(HOUR_MS);
    await startDaily();
    expect(await runs()).toHaveLength(1);
  });

  it('is put off by a comparison of these days whose times are up to a minute off', async () => {
    const now = engine.clock.now().getTime();
    const from = new Date(now - 7 * DAY_MS + 60_000).toISOString();
    await start({ from, to: new Date(now - 60_000).toISOString() }).expect(201);
    await finish();
    await startDaily();
    expect(await runs()).toHaveLength(1);
  });

  it('goes on after a comparison that a wrong clock dated', async () => {
    await aheadBy(365 * DAY_MS, () => start().expect(201));
    await finish();
    expect(await runs()).toMatchObject([{ status: 'completed' }]);
    expect(await shown()).toEqual([undefined, undefined]);
    await startDaily();
    await finish();
    expect(await runs()).toHaveLength(2);
    expect(await shown()).toEqual(['0', 0]);
  });

  it('waits for a running comparison whose id is not the newest', async () => {
    await start().expect(201);
    await finish();
    // As a process whose clock is ahead would make the id.
    await engine.database.query(`UPDATE reconciliation SET id = 'rcon_7' || substr(id, 7)`);
    const { body } = await start().expect(201);
    engine.clock.advanceMs(DAY_MS);
    const refused = await start();
    expect(refused.body).toMatchObject({
      code: 'reconciliation_running',
      reconciliation_id: (body as Run).id,
    });
    await startDaily();
    expect(await runs()).toHaveLength(2);
  });
});
