import { startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-01-01T00:00:00.000Z';
const graduated = {
  name: 'Calls',
  model: 'graduated',
  timing: 'in_arrears',
  tiers: [
    { up_to: '100', unit_amount: '10', flat_amount: 500 },
    { up_to: null, unit_amount: '5' },
  ],
};
const perUnit = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 };

describe('usage', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('is billed when its period is over, beside what is paid in advance', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const { id } = await story.planOf([base, { ...graduated, meter_id }]);
    await story.subscribe(id, { quantity: '7' });
    await story.use(event, '2026-01-01T00:00:00.000Z', { n: 30 });
    await story.advance('2026-01-20T00:00:00.000Z');
    await story.use(event, '2026-01-19T23:59:59.999Z', { n: '100.5' });
    await story.advance('2026-02-01T00:00:00.000Z');
    await story.use(event, '2026-02-01T00:00:00.000Z', { n: 1 });
    await story.advance('2026-03-01T00:00:00.000Z');
    expect(await story.lines()).toEqual([
      [['recurring', '1', 1_000]],
      [
        ['usage', '130.5', 1_653],
        ['recurring', '1', 1_000],
      ],
      [
        ['usage', '1', 510],
        ['recurring', '1', 1_000],
      ],
    ]);
    await story.verify();
  });

  it('costs so far what the invoice then says', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter({ group_by: ['region'] });
    const prices = [
      { ...graduated, meter_id, by_group: true },
      { ...perUnit, name: 'All', meter_id, minimum_amount: 2_000 },
    ];
    const { id } = await story.planOf(prices);
    await story.subscribe(id);
    await story.use(event, START, { n: 120, region: 'eu' });
    await story.use(event, START, { n: 10 });
    expect(await story.usage()).toMatchObject([
      {
        is_late: false,
        period_start: START,
        period_end: '2026-02-01T00:00:00.000Z',
        groups: [
          { group: ['eu'], quantity: '120', events: 1, amount: 1_600 },
          { group: [null], quantity: '10', events: 1, amount: 600 },
        ],
        amount: 2_200,
      },
      { groups: [{ group: null, quantity: '130', events: 2, amount: 1_300 }], amount: 2_000 },
    ]);
    await story.advance('2026-02-01T00:00:00.000Z');
    expect(await story.lines()).toEqual([
      [
        ['usage', '120', 1_600],
        ['usage', '10', 600],
        ['usage', '130', 1_300],
        ['minimum', null, 700],
      ],
    ]);
    await story.verify();
  });

  it('that comes late is billed by its difference with the next invoice, once', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const { id } = await story.planOf([base, { ...graduated, meter_id }]);
    await story.subscribe(id);
    await story.use(event, START, { n: 90 });
    await story.advance('2026-02-10T00:00:00.000Z');
    await story.use(event, '2026-01-31T23:59:59.999Z', { n: 20 });
    await story.use(event, '2026-01-15T00:00:00.000Z', { n: 5 });
    expect((await story.usage()).filter(({ is_late }) => is_late)).toMatchObject([
      { period_start: START, amount: 175, groups: [{ quantity: '115', events: 3 }] },
    ]);
    await story.advance('2026-03-10T00:00:00.000Z');
    await story.use(event, '2026-01-15T00:00:00.000Z', { n: 5 });
    await story.advance('2026-05-10T00:00:00.000Z');
    const lines = (await story.invoices()).flatMap(({ lines }) => lines);
    const january = lines.filter(
      ({ type, period_start }) => type === 'usage' && period_start === START,
    );
    expect(january.map(({ quantity, amount }) => [quantity, amount])).toEqual([
      ['90', 1_400],
      ['25', 175],
      ['5', 25],
    ]);
    expect(january[1]?.description).toBe('Calls (late usage)');
    await story.verify();
  });
});
