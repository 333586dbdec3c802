import { startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const flat = (amount: number, timing = 'in_arrears') => ({
  name: 'Fee',
  model: 'flat',
  timing,
  amount,
});

describe('an item that ends at the instant at which a period starts', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const linesOf = async (story: Story) =>
    (await story.invoices()).map(({ lines }) =>
      lines.map(({ description, amount }) => [description, amount]),
    );

  it.each(['cancel', 'pause'])(
    'is billed for the day, with its minimum and its fee at zero usage: %s',
    async (command) => {
      const story = await Story.begin(engine, on('03-01'));
      const { id: meter_id } = await story.meter();
      const calls = { timing: 'in_arrears', meter_id, name: 'Calls' };
      const perUnit = { ...calls, model: 'per_unit', unit_amount: '10' };
      const tiers = [{ up_to: null, unit_amount: '1', flat_amount: 659 }];
      const { id: planId } = await story.planOf([
        flat(3_100),
        { ...perUnit, minimum_amount: 3_100 },
        perUnit,
        { ...calls, model: 'graduated', tiers },
      ]);
      const { id } = await story.subscribe(planId, { collection: 'send_invoice' });
      await story.advance(on('04-01'));
      await story.command(id, command, command === 'cancel' ? { when: 'now' } : {});
      await story.advance(on('05-02'));
      const ofDay = [
        ['Fee', 103],
        ['Calls', 22],
        ['Calls (minimum)', 103],
      ];
      const [, billed, ...others] = await story.invoices();
      expect((await linesOf(story))[1]).toEqual(ofDay);
      expect(others).toEqual([]);
      await story.verifyInvoices();
      const path = `/v1/invoices/${billed?.id}`;
      await engine.http.post(`${path}/void`).send({}).expect(200);
      await engine.http.post(`${path}/reissue`).send({}).expect(201);
      expect((await linesOf(story)).at(-1)).toEqual(ofDay);
      await story.verifyInvoices();
      await story.verify();
    },
  );

  it('is billed once if a change starts the period', async () => {
    const story = await Story.begin(engine, on('04-13'));
    const weekly = { interval: 'week' };
    const byDay = await story.planOf([flat(7_000)], { ...weekly, proration: 'day' });
    const bySecond = await story.planOf([flat(7_000)], { ...weekly, proration: 'second' });
    const twoDays = { interval: 'day', interval_count: 2, proration: 'second' };
    const short = await story.planOf([flat(100)], twoDays);
    const { id } = await story.subscribe(byDay.id, {
      collection: 'send_invoice',
      billing_anchor: 'calendar',
    });
    await story.advance('2026-04-16T12:00:00.000Z');
    await story.command(id, 'change', { plan_id: bySecond.id, when: 'now' });
    await story.command(id, 'change', { plan_id: short.id, when: 'now' });
    await story.advance(on('04-20'));
    expect(await story.amounts()).toEqual([[3_500], [75], [100]]);
    await story.verify();
  });
});

describe('the preview of a change at the end of the period', () => {
  it('shows the next invoice if the change makes none', async () => {
    const engine = await startTestApp();
    const story = await Story.begin(engine, on('03-01'));
    const advance = await story.planOf([flat(3_000, 'in_advance')]);
    const arrears = await story.planOf([flat(1_000)]);
    const { id } = await story.subscribe(advance.id, { collection: 'send_invoice' });
    await story.advance(on('03-10'));
    const change = { plan_id: arrears.id, when: 'period_end' };
    const preview = await story.command(id, 'change?preview=true', change);
    expect(preview).toMatchObject({ bills_at: on('05-01'), total: 1_000 });
    await story.command(id, 'change', change);
    await story.advance(on('05-01'));
    expect(await story.amounts()).toEqual([[3_000], [1_000]]);
    await engine.close();
  });
});
