import { DataSource } from 'typeorm';
import { TellSinceWhenLinesCount1795410000001 } from '../../migrations/1795410000001-TellSinceWhenLinesCount';
import { type Line, startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-01-01T00:00:00.000Z';
const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const perUnit = { name: 'Held', model: 'per_unit', timing: 'in_arrears', unit_amount: '3100' };

interface Event {
  readonly idempotency_key: string;
  readonly timestamp: string;
  readonly properties: { readonly n: number };
}

interface Explanation {
  readonly full_period_start: string;
  readonly full_period_end: string;
  readonly trace: {
    readonly counted_from: string;
    readonly parts: readonly { readonly quantity: string; readonly events: string }[];
  };
}

describe('a usage line of a weighted sum', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const get = async <Body>(path: string): Promise<Body> => {
    const { status, body } = await engine.http.get(path);
    expect({ path, status }).toEqual({ path, status: 200 });
    return body as Body;
  };

  /** Reads page by page, two events at a time. */
  async function eventsOf(invoice: string, line: string): Promise<readonly Event[]> {
    const found: Event[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path = `/v1/invoices/${invoice}/lines/${line}/events?limit=2${cursor}`;
      const page: { data: readonly Event[]; next_cursor: string | null } = await get(path);
      found.push(...page.data);
      cursor = page.next_cursor === null ? null : `&cursor=${page.next_cursor}`;
    }
    return found;
  }

  /** Recomputes value × time of each event, over the length of the full period, as numerator and denominator. */
  function recomputed(
    { period_start, period_end }: Line,
    { full_period_start, full_period_end }: Explanation,
    events: readonly Event[],
  ): readonly [bigint, bigint] {
    const ms = (instant: string | null): number => Date.parse(instant ?? '');
    const held = events.reduce(
      (sum, { timestamp, properties: { n } }) =>
        sum + n * (ms(period_end) - Math.max(ms(timestamp), ms(period_start))),
      0,
    );
    return [BigInt(held), BigInt(ms(full_period_end) - ms(full_period_start))];
  }

  /** Asserts that the events of each line give its quantity exactly; returns how many each lists. */
  async function assertRecomputable(story: Story): Promise<readonly number[]> {
    const counts: number[] = [];
    for (const { id, lines } of await story.invoices()) {
      for (const line of lines.filter(({ type }) => type === 'usage')) {
        const events = await eventsOf(id, line.id);
        const explanation = await get<Explanation>(
          `/v1/invoices/${id}/lines/${line.id}/explanation`,
        );
        const [numerator, denominator] = recomputed(line, explanation, events);
        const { counted_from, parts } = explanation.trace;
        const [part, ...others] = parts;
        expect(others).toEqual([]);
        const [over = '', under = '1'] = (part?.quantity ?? '').split('/');
        // In whole numbers: a quantity without a finite decimal is shown as a ratio.
        const [digits = '', decimals = ''] = over.split('.');
        const exact = BigInt(`${digits}${decimals}`);
        const scale = BigInt(under) * 10n ** BigInt(decimals.length);
        expect(exact * denominator).toBe(numerator * scale);
        expect(events.every(({ timestamp }) => timestamp >= counted_from)).toBe(true);
        const ownEvents = events.filter(({ timestamp }) => timestamp >= (line.period_start ?? ''));
        expect(part?.events).toBe(String(ownEvents.length));
        const keys = events.map(({ idempotency_key }) => idempotency_key);
        expect(new Set(keys).size).toBe(keys.length);
        const times = events.map(({ timestamp }) => timestamp);
        expect(times).toEqual([...times].sort());
        counts.push(events.length);
      }
    }
    return counts;
  }

  it('lists all events from which a client computes its quantity, across a change and a pause', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter({ aggregation: 'weighted_sum' });
    const plan = async () => (await story.planOf([{ ...perUnit, meter_id }])).id;
    const { id } = await story.subscribe(await plan());
    await story.reportUsage(event, on('01-01'), { n: 7 });
    await story.reportUsage(event, on('01-01'), { n: 1 });
    await story.advance(on('01-11'));
    await story.reportUsage(event, '2026-01-06T07:08:09.010Z', { n: -2 });
    const second = await plan();
    await story.command(id, 'change', { plan_id: second, when: 'now' });
    await story.reportUsage(event, on('01-11'), { n: 4 });
    await story.advance(on('01-16'));
    await story.command(id, 'pause');
    await story.reportUsage(event, on('01-16'), { n: 5 });
    await story.advance(on('01-21'));
    await story.command(id, 'resume');
    await story.advance(on('02-10'));
    expect(await assertRecomputable(story)).toEqual([3, 4, 5]);
    // Events that arrive or are voided later change none of these lines, and are in their corrections.
    const key = await story.reportUsage(event, on('01-02'), { n: 3 });
    await story.reportUsage(event, on('01-03'), { n: 9 });
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
    expect(await assertRecomputable(story)).toEqual([3, 4, 5]);
    await story.advance(on('03-10'));
    expect(await assertRecomputable(story)).toEqual([3, 4, 5, 4, 5, 6]);
    await story.verify();
  });

  it('lists all events that a recurring meter holds, also from before the subscription', async () => {
    const story = await Story.begin(engine, START);
    const meter = { aggregation: 'weighted_sum', is_recurring: true };
    const { id: meter_id, event } = await story.meter(meter);
    await story.reportUsage(event, '2025-06-01T00:00:00.000Z', { n: 2 });
    await story.subscribe((await story.planOf([{ ...perUnit, meter_id }])).id);
    await story.reportUsage(event, on('01-01'), { n: 1 });
    await story.advance(on('02-10'));
    await story.reportUsage(event, on('02-05'), { n: 1 });
    await story.advance(on('04-10'));
    expect(await assertRecomputable(story)).toEqual([2, 3, 3]);
    await story.verify();
  });

  it('lists only the events of its group, if groups are billed separately', async () => {
    const story = await Story.begin(engine, START);
    const meter = { aggregation: 'weighted_sum', group_by: ['region'] };
    const { id: meter_id, event } = await story.meter(meter);
    const plan = async () => (await story.planOf([{ ...perUnit, meter_id, by_group: true }])).id;
    const { id } = await story.subscribe(await plan());
    await story.reportUsage(event, on('01-01'), { n: 2, region: 'eu' });
    await story.reportUsage(event, on('01-01'), { n: 3, region: 'us' });
    await story.advance(on('01-11'));
    await story.command(id, 'change', { plan_id: await plan(), when: 'now' });
    await story.reportUsage(event, on('01-11'), { n: 4, region: 'us' });
    await story.advance(on('02-10'));
    expect(await assertRecomputable(story)).toEqual([1, 1, 1, 2]);
    await story.verify();
  });

  it('of an older format is migrated with the instant from which its events count', async () => {
    const traces = () =>
      engine.database.query(
        `SELECT id, trace FROM invoice_line WHERE trace ->> 'kind' = 'usage' ORDER BY id`,
      );
    const before = await traces();
    const source = await new DataSource({ type: 'postgres', url: engine.databaseUrl }).initialize();
    const runner = source.createQueryRunner();
    try {
      const migration = new TellSinceWhenLinesCount1795410000001();
      await migration.down(runner);
      expect(await traces()).not.toEqual(before);
      await migration.up(runner);
    } finally {
      await source.destroy();
    }
    expect(await traces()).toEqual(before);
  });
});
