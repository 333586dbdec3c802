import fc from 'fast-check';
import { formatExact, parseDecimal, ZERO } from '../../src/core/decimal';
import type { Period } from '../../src/core/time';
import { periodContaining } from '../../src/core/time';
import { type Aggregation, AGGREGATIONS } from '../../src/core/usage';
import { CreateMeterService } from '../../src/modules/metering/create-meter.service';
import type { Meter } from '../../src/modules/meters';
import { type UsageWindow, UsageWindows } from '../../src/modules/metering/store/usage-windows';
import { type IncomingEvent, UsageStore } from '../../src/modules/metering/usage-store';
import { createCustomer } from '../support/billing';
import { aggregate, heldAtEnd, type MeteredEvent } from '../support/reference/aggregate';
import { startTestApp, type TestApp } from '../support/test-app';

const ZONES = ['UTC', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/New_York'] as const;

/** Instants around the changes to and from summer time of these zones, and the boundaries of hours and days. */
const FIRST_AT = new Date('2026-03-07T00:00:00.000Z');
const LAST_AT = new Date('2026-04-06T00:00:00.000Z');
const HOUR_MS = 3_600_000;

interface Sent {
  readonly at: Date;
  readonly value: string | number | boolean | null;
  readonly region: string | number | null;
  readonly model: string | null;
}

const anyInstant = fc.oneof(
  fc.date({ min: FIRST_AT, max: LAST_AT, noInvalidDate: true }),
  fc
    .record({ hour: fc.nat(720), offsetMs: fc.constantFrom(-1, 0, 1, 1_800_000, 2_700_000) })
    .map(({ hour, offsetMs }) => new Date(FIRST_AT.getTime() + hour * HOUR_MS + offsetMs)),
);

const anyEvent: fc.Arbitrary<Sent> = fc.record({
  at: anyInstant,
  value: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -400, max: 400 }).map((n) => String(n / 8)) },
    { weight: 3, arbitrary: fc.integer({ min: -5, max: 5 }) },
    { weight: 1, arbitrary: fc.constantFrom('much', '1e3', '', null, true) },
  ),
  region: fc.constantFrom('eu', 'us', 'ø"\\\u0001', 7, null),
  model: fc.constantFrom('small', 'large', null),
});

const anyScene = fc.record({
  before: fc.array(anyEvent, { maxLength: 40 }),
  after: fc.array(anyEvent, { maxLength: 40 }),
  batches: fc.integer({ min: 1, max: 4 }),
  /** Indexes of the events that are voided, before and after a window is opened. */
  voids: fc.tuple(fc.array(fc.nat(79), { maxLength: 6 }), fc.array(fc.nat(79), { maxLength: 6 })),
  boundaries: fc.tuple(anyInstant, anyInstant, anyInstant),
  filters: fc.constantFrom(
    [],
    [{ property: 'region', in: ['eu', '7'] }],
    [
      { property: 'region', in: ['eu', 'us', 'ø"\\\u0001'] },
      { property: 'model', in: ['small'] },
    ],
  ),
  groupBy: fc.constantFrom([], ['region'], ['model', 'region']),
  zone: fc.constantFrom(...ZONES),
  window: fc.constantFrom('day', 'month'),
});

const numberOf = (value: Sent['value']): string | null =>
  value !== null && typeof value !== 'boolean' && /^-?\d+(\.\d+)?$/.test(String(value))
    ? String(value)
    : null;

const textOf = (value: Sent['value']): string | null => (value === null ? null : String(value));

const groupOf = (event: Sent, groupBy: readonly string[]): readonly (string | null)[] =>
  groupBy.map((name) => textOf(name === 'region' ? event.region : event.model));

/** Converts events to the form of the reference, in the order in which they were accepted. */
function metered(events: readonly Sent[], { filters, aggregation }: Meter): readonly Sent[] {
  return events.filter((event) => {
    const fits = filters.every((filter) => {
      const text = textOf(filter.property === 'region' ? event.region : event.model);
      return text !== null && filter.in.includes(text);
    });
    if (!fits || aggregation === 'count') return fits;
    return aggregation === 'unique' ? event.value !== null : numberOf(event.value) !== null;
  });
}

function toMetered({ at, value }: Sent): MeteredEvent {
  const number = numberOf(value);
  return {
    occurredAt: at,
    value: number === null ? null : parseDecimal(number),
    key: textOf(value),
  };
}

/** Recomputes a period naively: for each group, the value and the number of events. */
function expected(
  events: readonly Sent[],
  meter: Meter,
  period: Period,
  groupBy = meter.groupBy,
  heldSince = period.startAt,
) {
  const groups = new Map<string, Sent[]>(groupBy.length === 0 ? [['[]', []]] : []);
  for (const event of metered(events, meter)) {
    const key = JSON.stringify(groupOf(event, groupBy));
    groups.set(key, [...(groups.get(key) ?? []), event]);
  }
  return [...groups]
    .map(([key, ofGroup]) => {
      const list = ofGroup.map(toMetered);
      const before = {
        startAt: meter.isRecurring ? new Date(0) : heldSince,
        endAt: period.startAt,
      };
      const carried = meter.aggregation === 'weighted_sum' ? heldAtEnd(list, before) : ZERO;
      const inPeriod = list.filter(
        ({ occurredAt }) => occurredAt >= period.startAt && occurredAt < period.endAt,
      );
      return {
        key,
        value: formatExact(aggregate(meter.aggregation, list, period, carried)),
        events: inPeriod.length,
        isThere: key === '[]' || inPeriod.length > 0 || carried.numerator !== 0n,
      };
    })
    .filter(({ isThere }) => isThere)
    .map(({ key, value, events: count }) => ({ key, value, events: count }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

describe('reading usage', () => {
  let engine: TestApp;
  let store: UsageStore;
  let count = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set('2026-06-01T00:00:00.000Z');
    store = engine.app.get(UsageStore);
  });

  afterAll(() => engine.close());

  function makeMeter(eventName: string, aggregation: Aggregation, terms: Partial<Meter>) {
    count += 1;
    return engine.app.get(CreateMeterService).create({
      key: `meter_${count}`,
      name: 'Meter',
      eventName,
      aggregation,
      valueProperty: aggregation === 'count' ? null : 'value',
      filters: [],
      groupBy: [],
      lateEvents: 'next_invoice',
      isRecurring: false,
      metadata: {},
      ...terms,
    });
  }

  async function append(customerId: string, eventName: string, events: readonly Sent[]) {
    const incoming: IncomingEvent[] = events.map(({ at, value, region, model }, index) => {
      count += 1;
      return {
        index,
        idempotencyKey: `event-${count}`,
        customerId,
        eventName,
        timestamp: at,
        properties: { value, region, model },
      };
    });
    const result = await store.append(incoming);
    expect(result).toEqual({ accepted: events.length, duplicates: 0, rejected: [] });
    return incoming.map(({ idempotencyKey }) => idempotencyKey);
  }

  function open(window: UsageWindow): Promise<void> {
    return engine.database.transaction(() => engine.app.get(UsageWindows).open(window));
  }

  const shown = (
    groups: readonly {
      group: unknown;
      value: { numerator: bigint; denominator: bigint };
      events: bigint;
    }[],
  ) =>
    groups
      .map(({ group, value, events }) => ({
        key: JSON.stringify(group),
        value: formatExact(value),
        events: Number(events),
      }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));

  it('weighs 2,500 held from 5 March as the published case does (U01)', async () => {
    const customerId = await createCustomer(engine);
    const meter = await makeMeter('published', 'weighted_sum', {});
    const at = new Date('2026-03-05T00:00:00Z');
    await append(customerId, 'published', [{ at, value: '2500', region: null, model: null }]);
    const period = { startAt: new Date('2026-03-01Z'), endAt: new Date('2026-04-01Z') };
    const { groups } = await store.aggregate({ customerId, meter, period, upToPosition: null });
    expect(shown(groups)).toEqual([{ key: '[]', value: '67500/31', events: 1 }]);
  });

  it.each(
    AGGREGATIONS.flatMap((aggregation) => [
      [aggregation, false] as const,
      ...(aggregation === 'weighted_sum' ? [[aggregation, true] as const] : []),
    ]),
  )(
    '%s (recurring: %s) equals the naive recomputation, for any period',
    async (aggregation, isRecurring) => {
      const customerId = await createCustomer(engine);
      await fc.assert(
        fc.asyncProperty(anyScene, async (scene) => {
          const boundaries = [...scene.boundaries].sort((a, b) => a.getTime() - b.getTime());
          const [heldSince, startAt, endAt] = boundaries;
          fc.pre(startAt !== undefined && endAt !== undefined && startAt < endAt);
          const period = { startAt, endAt };
          count += 1;
          const eventName = `event_${count}`;
          const keys = await append(customerId, eventName, scene.before);
          const meter = await makeMeter(eventName, aggregation, {
            isRecurring,
            filters: scene.filters,
            groupBy: scene.groupBy,
          });
          if (scene.batches % 2 === 0) await open({ customerId, meter, period });
          const size = Math.ceil(scene.after.length / scene.batches);
          for (let start = 0; start < scene.after.length; start += size) {
            const batch = scene.after.slice(start, start + size);
            keys.push(...(await append(customerId, eventName, batch)));
          }
          const query = { customerId, meter, period };
          const all = [...scene.before, ...scene.after];
          const voided = new Set<number>();
          const voidThem = async (places: readonly number[]) => {
            for (const place of places.filter((one) => one < all.length)) {
              voided.add(place);
              await store.void(keys[place] ?? '');
            }
          };
          await voidThem(scene.voids[0]);
          await open({ customerId, meter, period });
          const standing = all.filter((_, place) => !voided.has(place));
          const earlier = await store.aggregate({ ...query, upToPosition: null });
          await voidThem(scene.voids[1]);
          const events = all.filter((_, place) => !voided.has(place));

          expect(await store.aggregate({ ...query, upToPosition: earlier.upToPosition })).toEqual(
            earlier,
          );
          expect(shown(earlier.groups)).toEqual(expected(standing, meter, period));
          const reading = await store.aggregate({ ...query, upToPosition: null });
          expect(shown(reading.groups)).toEqual(expected(events, meter, period));
          const exact = await store.aggregate({ ...query, upToPosition: reading.upToPosition });
          expect(exact).toEqual(reading);
          const [inWindow] = expected(events, meter, period, []);
          const [window] = await engine.app.get(UsageWindows).read([query]);
          expect(window && formatExact(window)).toBe(inWindow?.value);

          const windows = windowsOf(period, scene.zone, scene.window);
          const kept = scene.groupBy.slice(0, 1);
          const series = await store.series({ customerId, meter, windows, groupBy: kept });
          for (const [place, window] of windows.entries()) {
            expect(shown(series.windows[place] ?? [])).toEqual(
              expected(events, meter, window, kept),
            );
          }
          expect(shown(series.whole)).toEqual(expected(events, meter, period, kept));

          const part = { ...query, heldSince };
          const held = await store.aggregate({ ...part, upToPosition: null });
          expect(shown(held.groups)).toEqual(
            expected(events, meter, period, meter.groupBy, heldSince),
          );
          expect(await store.aggregate({ ...part, upToPosition: held.upToPosition })).toEqual(held);
          const together = await store.readTogether(part);
          expect(shown(together.groups)).toEqual(expected(events, meter, period, [], heldSince));

          const instant = { startAt, endAt: startAt };
          const withoutTime = await store.aggregate({
            ...part,
            period: instant,
            upToPosition: null,
          });
          expect(shown(withoutTime.groups)).toEqual(
            expected(events, meter, instant, meter.groupBy, heldSince),
          );
        }),
        { numRuns: 30 },
      );
    },
  );

  it('reads all rows of 100,000 values, and at most one row more than these can have', async () => {
    const customerId = await createCustomer(engine);
    const meter = await makeMeter('many_values', 'weighted_sum', { groupBy: ['model'] });
    const [before, during] = ['2026-03-01T00:00:00Z', '2026-03-01T01:00:00Z'] as const;
    const one = { value: 1, region: null, model: 'large' } as const;
    const sent = [before, during].map((at) => ({ ...one, at: new Date(at) }));
    await append(customerId, 'many_values', sent);
    const plant = (name: string, groups: number, hours: readonly string[]) =>
      engine.database.query(
        `INSERT INTO usage_bucket (stream_id, meter_id, start_at, end_at, group_key, events, total, held_ms, distinct_values)
         SELECT stream_id, meter_id, hour, hour + interval '1 hour', jsonb_build_array($2 || number)::text, 1, 1, 0, 0
         FROM (SELECT stream_id, meter_id FROM usage_bucket WHERE meter_id = $1 LIMIT 1) AS used,
           generate_series(1, $3::integer) AS number, unnest($4::timestamptz[]) AS hour`,
        [meter.id, name, groups, hours],
      );
    const heldSince = new Date(before);
    const period = { startAt: new Date(during), endAt: new Date('2026-03-01T02:00:00Z') };
    const series = () =>
      store.series({ customerId, meter, windows: [period], groupBy: ['model'], heldSince });

    // Each group has a row of the time before, one of the whole period, and one of the window.
    await plant('both-', 99_999, [before, during]);
    const query = jest.spyOn(engine.database, 'query');
    const mostRows = async () => {
      const read = query.mock.results.map(({ value }) => value as Promise<readonly unknown[]>);
      return Math.max(...(await Promise.all(read)).map(({ length }) => length));
    };
    try {
      expect((await series()).windows[0]).toHaveLength(100_000);
      expect(await mostRows()).toBe(300_000);
      await plant('before-', 2, [before]);
      await expect(series()).rejects.toThrow('too_many_windows');
      expect(await mostRows()).toBe(300_001);
    } finally {
      query.mockRestore();
    }
  });
});

/** Splits a period into local days or months, cut at its ends. */
function windowsOf(period: Period, timeZone: string, interval: 'day' | 'month'): readonly Period[] {
  const windows: Period[] = [];
  const anchor = {
    mode: 'calendar',
    startAt: period.startAt,
    timeZone,
    interval,
    intervalCount: 1,
  } as const;
  for (let startAt = period.startAt; startAt < period.endAt;) {
    const found = periodContaining(anchor, startAt);
    const endAt = found === undefined || found.endAt > period.endAt ? period.endAt : found.endAt;
    windows.push({ startAt, endAt });
    startAt = endAt;
  }
  return windows;
}
