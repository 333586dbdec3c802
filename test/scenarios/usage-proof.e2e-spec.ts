import { startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-01-01T00:00:00.000Z';
const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const perUnit = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '3100' };
const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 };

/** Terms of meters that differ in how long a value is held. */
const SUM = {};
const HELD = { aggregation: 'weighted_sum' };
const RECURRING = { aggregation: 'weighted_sum', is_recurring: true };

describe('a usage proof', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function metered(meter: Readonly<Record<string, unknown>>) {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter(meter);
    const plan = async (fields: object = {}) =>
      (await story.planOf([{ ...perUnit, meter_id }], { ...fields })).id;
    const use = (date: string, n = 1) => story.reportUsage(event, on(date), { n });
    /** Returns billed, pending and unbillable. */
    const proof = async (from = START, to = '2027-01-01T00:00:00.000Z') => {
      const query = { customer_id: story.customerId, from, to };
      const { body } = await engine.http.get(`/v1/meters/${meter_id}/proof`).query(query);
      const { counted, billed, pending, unbillable } = body as Record<string, number>;
      expect(counted).toBe((billed ?? 0) + (pending ?? 0) + (unbillable ?? 0));
      return [billed, pending, unbillable];
    };
    return { story, plan, use, proof };
  }

  it('reports usage before a subscription as pending, until one that starts earlier bills it', async () => {
    const { story, plan, use, proof } = await metered(SUM);
    await story.advance(on('02-10'));
    await use('01-05');
    expect(await proof()).toEqual([0, 1, 0]);
    await story.subscribe(await plan(), { start_at: START });
    expect(await proof()).toEqual([1, 0, 0]);
  });

  it('reports usage in a pause as unbillable, and late usage as pending', async () => {
    const { story, plan, use, proof } = await metered(SUM);
    const { id } = await story.subscribe(await plan());
    await use(START.slice(5, 10));
    await story.advance(on('01-11'));
    await story.command(id, 'pause');
    await use('01-10');
    await story.advance(on('01-16'));
    await use('01-11');
    await use('01-15');
    expect(await proof()).toEqual([0, 2, 2]);
    await story.command(id, 'resume');
    await use('01-16');
    expect(await proof()).toEqual([0, 3, 2]);
    expect(await proof(on('01-11'), on('01-15'))).toEqual([0, 0, 1]);
    await story.advance(on('02-10'));
    expect(await proof()).toEqual([3, 0, 2]);
    await use('01-12');
    await use('01-02');
    expect(await proof()).toEqual([3, 1, 3]);
    await story.advance(on('03-10'));
    expect(await proof()).toEqual([4, 0, 3]);
    expect((await story.amounts()).flat()).toEqual([2 * 3_100, 3_100, 3_100]);
    await story.verify();
  });

  it('reports usage in a pause as unbillable if its price was planned to start in the pause', async () => {
    const { story, plan, use, proof } = await metered(SUM);
    const { id } = await story.subscribe((await story.planOf([base])).id);
    await story.command(id, 'change', { plan_id: await plan(), when: 'now', proration: 'none' });
    await story.advance(on('01-31'));
    await story.command(id, 'pause');
    await story.advance(on('02-04'));
    await story.command(id, 'resume');
    await use('02-03');
    await use('02-04');
    expect(await proof()).toEqual([0, 1, 1]);
    await story.advance(on('03-05'));
    expect(await proof()).toEqual([1, 0, 1]);
  });

  it.each([
    ['a sum as unbillable', SUM, [0, 0, 1]],
    ['a value that is not held after a pause as unbillable', HELD, [0, 0, 1]],
    ['a value of a recurring meter as pending', RECURRING, [0, 1, 0]],
  ])(
    'reports %s in a pause in which its price was to start, and as unbillable after the end',
    async (_, meter, inPause) => {
      const { story, plan, use, proof } = await metered(meter);
      const { id } = await story.subscribe((await story.planOf([base])).id);
      await story.command(id, 'change', { plan_id: await plan(), when: 'now', proration: 'none' });
      await story.advance(on('01-20'));
      await story.command(id, 'pause');
      await story.advance(on('02-10'));
      await use('02-05');
      expect(await proof()).toEqual(inPause);
      await story.command(id, 'cancel', { when: 'now' });
      expect(await proof()).toEqual([0, 0, 1]);
    },
  );

  it('reports a value held over a pause as pending, then as billed with the part after it', async () => {
    const { story, plan, use, proof } = await metered(HELD);
    const { id } = await story.subscribe(await plan());
    await use('01-01');
    await story.advance(on('01-11'));
    await story.command(id, 'pause');
    await story.advance(on('01-16'));
    await use('01-12');
    expect(await proof()).toEqual([0, 2, 0]);
    await story.advance(on('01-21'));
    await story.command(id, 'resume');
    expect(await proof()).toEqual([0, 2, 0]);
    await story.advance(on('02-10'));
    expect(await proof()).toEqual([2, 0, 0]);
    expect(await proof(on('01-11'), on('01-21'))).toEqual([1, 0, 0]);
    // Late for both parts: one is corrected by the next invoice, and so is the other.
    await use('01-05');
    await use('01-15');
    expect(await proof()).toEqual([2, 2, 0]);
    await story.advance(on('03-10'));
    expect(await proof()).toEqual([4, 0, 0]);
    await story.verify();
  });

  it('reports a value that is not held after a pause as unbillable', async () => {
    const { story, plan, use, proof } = await metered(HELD);
    const { id } = await story.subscribe(await plan());
    await use('01-01');
    await story.advance(on('01-11'));
    await story.command(id, 'pause');
    await story.advance(on('01-16'));
    await use('01-12');
    await story.advance(on('02-10'));
    expect(await proof()).toEqual([1, 0, 1]);
    await story.command(id, 'resume');
    await use('02-10');
    expect(await proof()).toEqual([1, 1, 1]);
    await story.advance(on('03-15'));
    expect(await proof()).toEqual([2, 0, 1]);
    await story.verify();
  });

  it('reports a value of a recurring meter from a pause as pending until it is billed', async () => {
    const { story, plan, use, proof } = await metered(RECURRING);
    await use('01-01');
    const { id } = await story.subscribe(await plan({ trial_days: 10 }));
    await story.advance(on('01-20'));
    await story.command(id, 'pause');
    await story.advance(on('02-20'));
    await use('01-05');
    await use('02-15');
    // The first part is billed: one event is late for it, and the other changes what comes after the pause.
    expect(await proof()).toEqual([1, 2, 0]);
    await story.command(id, 'resume');
    await story.advance(on('03-25'));
    expect(await proof()).toEqual([3, 0, 0]);
    await story.command(id, 'pause');
    await story.advance(on('03-27'));
    await use('03-26');
    expect(await proof()).toEqual([3, 1, 0]);
    await story.command(id, 'cancel', { when: 'now' });
    expect(await proof()).toEqual([3, 0, 1]);
    await story.verify();
  });

  it('reports usage in a trial, and with a plan without the price, as unbillable', async () => {
    const { story, plan, use, proof } = await metered(SUM);
    const { id } = await story.subscribe(await plan({ trial_days: 10 }));
    await use('01-01');
    await use('01-02');
    await story.advance(on('01-21'));
    await use('01-11');
    expect(await proof()).toEqual([0, 1, 2]);
    const other = await story.planOf([base]);
    await story.command(id, 'change', { plan_id: other.id, when: 'now' });
    await story.advance(on('01-22'));
    await use('01-21');
    expect(await proof()).toEqual([0, 1, 3]);
    // The future is undecided.
    await use('01-22');
    expect(await proof()).toEqual([0, 2, 3]);
    await story.advance(on('02-20'));
    expect(await proof()).toEqual([1, 0, 4]);
    await story.verify();
  });

  it.each([
    ['a sum', SUM],
    ['what is held', HELD],
  ])('reports %s of two parts of a period as pending until both are billed', async (_, meter) => {
    const { story, plan, use, proof } = await metered(meter);
    const [first, second] = [await plan(), await plan()];
    const { id } = await story.subscribe(first);
    await use('01-01');
    await story.advance(on('01-16'));
    await story.command(id, 'change', { plan_id: second, when: 'now' });
    await use('01-15');
    await use('01-16');
    expect(await proof()).toEqual([0, 3, 0]);
    await story.advance(on('02-10'));
    expect(await proof()).toEqual([3, 0, 0]);
    await use('01-10');
    expect(await proof()).toEqual([3, 1, 0]);
    await story.advance(on('03-10'));
    expect(await proof()).toEqual([4, 0, 0]);
    await story.verify();
  });

  it('reports late usage that changes no amount as billed, without a line', async () => {
    const { story, plan, use, proof } = await metered(SUM);
    await story.subscribe(await plan());
    await use('01-01', 2);
    await story.advance(on('02-01'));
    await use('01-06', 3);
    await use('01-07', -3);
    expect(await proof()).toEqual([1, 2, 0]);
    await story.advance(on('03-01'));
    expect(await proof()).toEqual([3, 0, 0]);
    expect((await story.amounts()).flat()).toEqual([2 * 3_100]);
    await story.verify();
  });

  it('reports usage of a draft as pending', async () => {
    const story = await Story.begin(engine, START, { invoice_grace_hours: 48 });
    const { id: meter_id, event } = await story.meter();
    await story.subscribe((await story.planOf([{ ...perUnit, meter_id }])).id);
    await story.reportUsage(event, START, { n: 1 });
    const proof = async () => {
      const query = { customer_id: story.customerId, from: START, to: on('03-01') };
      return (await engine.http.get(`/v1/meters/${meter_id}/proof`).query(query)).body as object;
    };
    await story.advance('2026-02-02T23:59:59.000Z');
    expect(await proof()).toMatchObject({ billed: 0, pending: 1, unbillable: 0 });
    await story.advance('2026-02-03T00:00:00.000Z');
    expect(await proof()).toMatchObject({ billed: 1, pending: 0, unbillable: 0 });
  });
});
