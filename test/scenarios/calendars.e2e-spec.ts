import { post, startTestApp, Story, type TestApp } from '../support/story';
import { withoutTriggers } from '../support/without-triggers';

describe('periods in local time zones', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it.each([
    // Local midnight of the first, through both changes of summer time.
    [
      'America/New_York',
      '2026-02-01T05:00:00.000Z',
      'month',
      '2026-12-01T05:00:00.000Z',
      [
        '03-01T05',
        '04-01T04',
        '05-01T04',
        '06-01T04',
        '07-01T04',
        '08-01T04',
        '09-01T04',
        '10-01T04',
        '11-01T04',
        '12-01T05',
      ],
    ],
    [
      'Europe/Paris',
      '2026-02-28T23:00:00.000Z',
      'month',
      '2026-10-31T23:00:00.000Z',
      [
        '03-31T22',
        '04-30T22',
        '05-31T22',
        '06-30T22',
        '07-31T22',
        '08-31T22',
        '09-30T22',
        '10-31T23',
      ],
    ],
  ] as const)('%s', async (timezone, start, interval, end, renewals) => {
    const story = await Story.begin(engine, start, { timezone });
    await story.subscribe(await story.plan(1_000, { interval }));
    await story.advance(end);
    expect((await story.starts()).slice(1).map((at) => at?.slice(5, 13))).toEqual(renewals);
    expect(await story.amounts()).toEqual([[1_000], ...renewals.map(() => [1_000])]);
    await story.verify();
  });

  it('a local time that a zone skips by half an hour is moved later, and returns the day after', async () => {
    // Lord Howe: on 4 October 2026 02:00 becomes 02:30; standard time is UTC+10:30, summer time UTC+11.
    const story = await Story.begin(engine, '2026-10-01T15:40:00.000Z', {
      timezone: 'Australia/Lord_Howe',
    });
    await story.subscribe(await story.plan(100, { interval: 'day' }));
    await story.advance('2026-10-05T00:00:00.000Z');
    expect(await story.starts()).toEqual([
      '2026-10-01T15:40:00.000Z',
      '2026-10-02T15:40:00.000Z',
      '2026-10-03T15:40:00.000Z',
      '2026-10-04T15:10:00.000Z',
    ]);
    await story.verify();
  });

  it('a day that a zone skipped is not billed', async () => {
    // Apia went from 29 to 31 December 2011, across the date line.
    const story = await Story.begin(engine, '2011-12-28T10:00:00.000Z', {
      timezone: 'Pacific/Apia',
    });
    await story.subscribe(await story.plan(100, { interval: 'day' }));
    await story.advance('2012-01-01T00:00:00.000Z');
    expect(await story.starts()).toEqual([
      '2011-12-28T10:00:00.000Z',
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-31T10:00:00.000Z',
    ]);
    await story.verify();
  });

  it('a start between the two midnights of a day is in the month of that day', async () => {
    // At 00:01 on 1 November 2009, the clock of St. John's went back to 23:01.
    const [start, timezone] = ['2009-11-01T02:45:00.000Z', 'America/St_Johns'];
    const story = await Story.begin(engine, start, { timezone });
    const { id } = await story.subscribe(await story.plan(3_000), { billing_anchor: 'calendar' });
    await story.advance('2009-11-16T12:00:00.000Z');
    await story.command(id, 'change', { plan_id: await story.plan(6_000), when: 'now' });
    await story.advance('2009-12-02T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[3_000], [3_000, -1_500], [6_000]]);
    expect(await story.starts()).toEqual([
      start,
      '2009-11-16T12:00:00.000Z',
      '2009-12-01T03:30:00.000Z',
    ]);
    await story.verify();
    const days = `from=${start}&to=2009-11-03T00:00:00Z&interval=day&time_zone=${timezone}`;
    await engine.http.get(`/v1/analytics/revenue?${days}`).expect(200);
  });

  it('a yearly period from 29 February ends on the 28th, and on the 29th in leap years', async () => {
    const story = await Story.begin(engine, '2028-02-29T12:00:00.000Z');
    await story.subscribe(await story.plan(12_000, { interval: 'year' }));
    await story.advance('2032-03-01T00:00:00.000Z');
    expect((await story.starts()).map((at) => at?.slice(0, 10))).toEqual([
      '2028-02-29',
      '2029-02-28',
      '2030-02-28',
      '2031-02-28',
      '2032-02-29',
    ]);
    await story.verify();
  });

  it('the days of a change are local dates', async () => {
    // 31 March, 23:30 in Paris, is 21:30 UTC: one of 31 days is left, and in UTC the date is the same.
    const story = await Story.begin(engine, '2026-02-28T23:00:00.000Z', {
      timezone: 'Europe/Paris',
    });
    const { id } = await story.subscribe(await story.plan(3_100));
    await story.advance('2026-03-30T22:30:00.000Z');
    await story.command(id, 'change', { plan_id: await story.plan(6_200), when: 'now' });
    expect(await story.amounts()).toEqual([[3_100], [200, -100]]);
    await story.verify();
  });
});

describe('new time zone data', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ plantsEvents: true });
  });

  afterAll(() => engine.close());

  /** By the former time zone data, a local midnight of April was an hour away from what it is now. */
  const formerEnds = [
    ['earlier', '2026-04-01T01:00:00.000Z'],
    ['later', '2026-03-31T23:00:00.000Z'],
  ] as const;
  const newEnd = '2026-05-01T00:00:00.000Z';

  /** Gives the first period of a subscription the end by the former data. */
  async function endAsFormerly(id: string, formerEnd: string): Promise<void> {
    await engine.database.query(
      'UPDATE subscription_period SET end_at = $2, full_end_at = $2 WHERE subscription_id = $1',
      [id, formerEnd],
    );
    await engine.database.query(
      'UPDATE subscription SET current_period_end_at = $2, next_billing_at = $2 WHERE id = $1',
      [id, formerEnd],
    );
  }

  it.each(formerEnds)('that move a boundary %s leave no usage out', async (_, formerEnd) => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00Z');
    const { id: meter_id, event } = await story.meter();
    const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1' };
    const seat = { name: 'Base', model: 'flat', amount: 1_000 };
    const plan = await story.planOf([
      { ...calls, meter_id },
      { ...seat, timing: 'in_advance' },
      { ...seat, timing: 'in_arrears' },
    ]);
    const { id } = await story.subscribe(plan.id);
    await endAsFormerly(id, formerEnd);
    await story.advance('2026-04-01T12:00:00Z');
    await story.reportUsage(event, '2026-03-31T22:59:59Z', { n: 1 });
    await story.reportUsage(event, '2026-03-31T23:30:00Z', { n: 10 });
    await story.reportUsage(event, '2026-04-01T00:30:00Z', { n: 100 });
    await story.reportUsage(event, '2026-04-01T01:00:00Z', { n: 1_000 });
    expect(await story.subscription(id)).toMatchObject({
      current_period_start: formerEnd,
      current_period_end: newEnd,
    });
    await story.advance('2026-06-01T00:00:00Z');
    const lines = (await story.invoices()).flatMap((invoice) => invoice.lines);
    const usage = lines.filter(({ type }) => type === 'usage');
    expect(usage.reduce((sum, { amount }) => sum + amount, 0)).toBe(1_111);
    const flat = lines.filter(({ type }) => type !== 'usage');
    expect(flat.filter(({ period_end }) => period_end === newEnd)).toMatchObject([
      { amount: 1_000, period_start: formerEnd, proration: null },
      { amount: 1_000, period_start: formerEnd, proration: null },
    ]);
    await story.verify();
  });

  it.each(formerEnds)('that move a boundary %s let a change act there', async (_, formerEnd) => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00Z');
    const { id } = await story.subscribe(await story.plan(1_000, { proration: 'second' }));
    await endAsFormerly(id, formerEnd);
    const dear = await story.plan(5_000, { proration: 'second' });
    await story.command(id, 'change', { plan_id: dear, when: 'period_end' });
    await story.advance('2026-04-02T00:00:00Z');
    expect(await story.amounts()).toEqual([[1_000], [5_000]]);
    const middle = (Date.parse(formerEnd) + Date.parse(newEnd)) / 2;
    await story.advance(new Date(middle).toISOString());
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    expect((await story.amounts()).at(-1)).toEqual([-2_500]);
    await story.verify();
  });

  /** Subscribes to a calendar month. By data from before 2024, `Asia/Almaty` stays at +6, as Bishkek does. */
  async function begin(startAt: string, amount: number) {
    const story = await Story.begin(engine, startAt, { timezone: 'Asia/Bishkek' });
    const { id } = await story.subscribe(await story.plan(amount), { billing_anchor: 'calendar' });
    return { story, id };
  }

  /** By the new data, `Asia/Almaty` is at +5 from 1 March, so that stored midnights from then on are 23:00. */
  const update = (id: string) =>
    withoutTriggers(engine, [
      `UPDATE subscription SET time_zone = 'Asia/Almaty' WHERE id = '${id}'`,
      `UPDATE invoice_line SET time_zone = 'Asia/Almaty' FROM subscription_item item
       WHERE item.id = item_id AND item.subscription_id = '${id}'`,
    ]);

  describe('that give the current period fewer days', () => {
    const tenth = () => begin('2024-02-10T00:00:00Z', 2_900);

    it('let a change credit the rest of it', async () => {
      const { story, id } = await tenth();
      await update(id);
      await story.advance('2024-02-20T00:00:00Z');
      await story.command(id, 'change', { plan_id: await story.plan(5_800), when: 'now' });
      // 9 of 19 days are left, of 28 in the whole period.
      expect(await story.amounts()).toEqual([[2_000], [1_864, -947]]);
      await story.verify();
    });

    it.each(['now', 'at'])('let a cancellation credit the rest of it; when: %s', async (when) => {
      const { story, id } = await tenth();
      const cancel = { when, credit_unused: true };
      if (when === 'at')
        await story.command(id, 'cancel', { ...cancel, at: '2024-02-20T12:00:00Z' });
      await update(id);
      await story.advance('2024-02-20T12:00:00Z');
      if (when === 'now') await story.command(id, 'cancel', cancel);
      // The day of the end is used.
      expect(await story.amounts()).toEqual([[2_000], [-842]]);
      await story.verify();
    });

    it.each(['now', 'at'])('credit nothing if no day is left of a line; when: %s', async (when) => {
      const { story, id } = await begin('2024-02-29T04:00:00Z', 2_900);
      const cancel = { when, credit_unused: true };
      if (when === 'at')
        await story.command(id, 'cancel', { ...cancel, at: '2024-02-29T10:00:00Z' });
      await update(id);
      await story.advance('2024-02-29T10:00:00Z');
      if (when === 'now') await story.command(id, 'cancel', cancel);
      expect(await story.subscription(id)).toMatchObject({ status: 'canceled' });
      expect(await story.amounts()).toEqual([[100]]);
      await story.verify();
    });
  });

  describe('that move both ends of the current period by one date', () => {
    /** Changes the plan on 6 March, in a period from 1 to 31 March; by the new data, from 29 February to 30 March. */
    async function changed() {
      const { story, id } = await begin('2024-02-29T18:00:00Z', 310_000);
      await story.advance('2024-03-06T04:00:00Z');
      await story.command(id, 'change', { plan_id: await story.plan(620_000), when: 'now' });
      expect((await story.amounts()).at(-1)).toEqual([520_000, -260_000]);
      return { story, id };
    }

    it.each([
      ['the same date', '2024-03-06T06:00:00Z', [250_000, -520_000]],
      // 11 of 25 days are left.
      ['a later date', '2024-03-20T06:00:00Z', [110_000, -228_800]],
    ])('let a change on %s credit its part of the billed days', async (_, at, amounts) => {
      const { story, id } = await changed();
      await update(id);
      await story.advance(at);
      await story.command(id, 'change', { plan_id: await story.plan(310_000), when: 'now' });
      expect((await story.amounts()).at(-1)).toEqual(amounts);
      await story.verify();
    });

    it('regenerate a credit of a whole line as it was', async () => {
      const { story, id } = await changed();
      await story.command(id, 'change', { plan_id: await story.plan(930_000), when: 'now' });
      const [bill] = (await story.invoices()).slice(-1);
      await post(engine, `/v1/invoices/${bill?.id}/void`);
      await update(id);
      await post(engine, `/v1/invoices/${bill?.id}/reissue`);
      expect((await story.amounts()).at(-1)).toEqual([780_000, -520_000]);
      await story.verify();
    });
  });
});
