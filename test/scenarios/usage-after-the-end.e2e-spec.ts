import { startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';
const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const perUnit = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '5000' };

describe('usage that arrives around the end of a subscription', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function metered(customer: Readonly<Record<string, unknown>> = {}) {
    const story = await Story.begin(engine, START, customer);
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([{ ...perUnit, meter_id }]);
    const use = (date: string, n = 1) => story.reportUsage(event, on(date), { n });
    const proof = async () => {
      const query = { customer_id: story.customerId, from: START, to: on('12-01') };
      const { body } = await engine.http.get(`/v1/meters/${meter_id}/proof`).query(query);
      const { counted, billed, pending, unbillable } = body as Record<string, number>;
      return { counted, billed, pending, unbillable };
    };
    /**
     * Returns reason and lines of the invoices since a subscription started, without those that bill a period in
     * advance.
     */
    const billed = async () =>
      (await story.invoices())
        .map(({ reason, lines }) => ({
          reason,
          usage: lines.flatMap(({ type, amount }) => (type === 'usage' ? [amount] : [])),
        }))
        .filter(({ usage }) => usage.length > 0);
    return { story, planId, meterId: meter_id, use, proof, billed };
  }

  it('is billed by the last invoice if it is known when the subscription ends', async () => {
    const { story, planId, use, proof, billed } = await metered();
    const flat = await story.plan(1_000);
    const { id } = await story.subscribe(planId);
    await story.advance(on('04-01'));
    await story.command(id, 'change', { plan_id: flat, when: 'now' });
    await story.advance(on('04-05'));
    await use('03-10');
    await story.advance(on('04-10'));
    const preview = await engine.http
      .post(`/v1/subscriptions/${id}/cancel?preview=true`)
      .send({ when: 'now' });
    expect(preview.body).toMatchObject({ total: 5_000 });
    await story.command(id, 'cancel', { when: 'now' });
    expect(await billed()).toEqual([{ reason: 'end', usage: [5_000] }]);
    expect(await proof()).toEqual({ counted: 1, billed: 1, pending: 0, unbillable: 0 });
    await story.verify();
  });

  it('is billed by an invoice of its own, once, if it arrives after the end', async () => {
    const { story, planId, use, proof, billed } = await metered();
    const { id } = await story.subscribe(planId);
    await use('03-02');
    await story.advance(on('03-10'));
    await story.command(id, 'cancel', { when: 'now' });
    expect(await billed()).toEqual([{ reason: 'end', usage: [5_000] }]);
    await story.advance(on('03-12'));
    await use('03-03');
    await use('03-04', 2);
    expect(await proof()).toEqual({ counted: 3, billed: 1, pending: 2, unbillable: 0 });
    await story.advance('2026-03-12T00:59:59.999Z');
    await use('03-05');
    expect(await billed()).toHaveLength(1);
    await story.advance('2026-03-12T01:00:00.000Z');
    expect((await billed()).slice(1)).toEqual([{ reason: 'late_usage', usage: [20_000] }]);
    expect(await proof()).toEqual({ counted: 4, billed: 4, pending: 0, unbillable: 0 });
    await story.advance(on('06-01'));
    expect(await billed()).toHaveLength(2);
    await use('03-06');
    await story.advance(on('06-02'));
    expect((await billed()).slice(2)).toEqual([{ reason: 'late_usage', usage: [5_000] }]);
    expect(await proof()).toEqual({ counted: 5, billed: 5, pending: 0, unbillable: 0 });
    await story.verify();
  });

  it('that is voided after the end is given back as credit', async () => {
    const { story, planId, use, proof, billed } = await metered();
    const { id } = await story.subscribe(planId);
    await story.advance(on('03-10'));
    const key = await use('03-02');
    await use('03-03');
    await story.command(id, 'cancel', { when: 'now' });
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
    await story.advance(on('03-11'));
    expect(await billed()).toEqual([
      { reason: 'end', usage: [10_000] },
      { reason: 'late_usage', usage: [-5_000] },
    ]);
    expect((await story.invoices()).at(-1)).toMatchObject({
      status: 'paid',
      total: -5_000,
      credited_to_balance: 5_000,
    });
    expect(await proof()).toEqual({ counted: 1, billed: 1, pending: 0, unbillable: 0 });
    await story.verify();
  });

  it('waits for the last invoice while that is a draft', async () => {
    const { story, planId, use, proof, billed } = await metered({ invoice_grace_hours: 48 });
    const { id } = await story.subscribe(planId);
    await story.command(id, 'cancel', { when: 'period_end' });
    await story.advance(on('04-02'));
    await use('03-30');
    await story.advance(on('04-03'));
    expect(await billed()).toEqual([{ reason: 'end', usage: [5_000] }]);
    await use('03-31');
    await story.advance(on('04-04'));
    expect((await billed()).slice(1)).toEqual([{ reason: 'late_usage', usage: [5_000] }]);
    expect(await proof()).toEqual({ counted: 2, billed: 2, pending: 0, unbillable: 0 });
    await story.verify();
  });

  it('is billed with the next period of a plan that bills nothing else', async () => {
    const { story, planId, use, proof, billed } = await metered();
    const { id: free } = await story.planOf([]);
    const { id } = await story.subscribe(planId);
    await story.advance(on('04-01'));
    await story.command(id, 'change', { plan_id: free, when: 'now' });
    await use('03-10');
    await story.advance(on('05-01'));
    expect(await billed()).toEqual([{ reason: 'renewal', usage: [5_000] }]);
    expect(await proof()).toEqual({ counted: 1, billed: 1, pending: 0, unbillable: 0 });
  });

  it('makes no invoice if there is none, or if it costs nothing', async () => {
    const { story, planId, use } = await metered();
    const { id } = await story.subscribe(planId);
    await story.advance(on('03-10'));
    await story.command(id, 'cancel', { when: 'now' });
    await use('03-02', 0);
    await story.advance(on('03-11'));
    expect(await story.invoices()).toEqual([]);
  });

  it.each([
    ['was canceled', true],
    ['expired', false],
  ])('of a subscription that was never active and %s is unbillable', async (_, cancels) => {
    const { story, meterId, use, proof } = await metered();
    const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 };
    const { id: plan_id } = await story.planOf([base, { ...perUnit, meter_id: meterId }]);
    const { id } = await story.subscribe(plan_id, { payment_behavior: 'default_incomplete' });
    await story.advance(on('03-01').replace('00:00', '12:00'));
    await use('03-01');
    expect(await proof()).toEqual({ counted: 1, billed: 0, pending: 1, unbillable: 0 });
    if (cancels) await story.command(id, 'cancel', { when: 'now' });
    else await story.advance(on('03-02'));
    expect(await proof()).toEqual({ counted: 1, billed: 0, pending: 0, unbillable: 1 });
  });

  it('of the period in which the customer was deleted is unbillable', async () => {
    const { story, planId, use, proof } = await metered();
    await story.subscribe(planId);
    await story.advance(on('03-10'));
    await use('03-02');
    await engine.http.delete(`/v1/customers/${story.customerId}`).expect(204);
    await story.advance(on('04-02'));
    expect(await story.invoices()).toEqual([]);
    expect(await proof()).toEqual({ counted: 1, billed: 0, pending: 0, unbillable: 1 });
  });

  it('is shown as late usage even if the new plan has no metered price', async () => {
    const { story, planId, use, billed } = await metered();
    const { id } = await story.subscribe(planId);
    await story.advance(on('03-10'));
    const weekly = await story.plan(1_000, { interval: 'week' });
    await story.command(id, 'change', { plan_id: weekly, when: 'now' });
    await story.advance(on('03-12'));
    await use('03-09');
    expect(await story.usage()).toMatchObject([{ is_late: true, amount: 5_000 }]);
    await story.advance(on('05-01'));
    expect(await story.usage()).toEqual([]);
    expect(await billed()).toEqual([{ reason: 'renewal', usage: [5_000] }]);
    await story.verify();
  });
});
