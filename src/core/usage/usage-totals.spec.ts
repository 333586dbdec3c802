import fc from 'fast-check';
import { aggregate, type MeteredEvent } from '../../../test/support/reference/aggregate';
import { totalsOf } from '../../../test/support/usage-totals';
import { add, formatExact, parseDecimal, rational, type Rational, ZERO } from '../decimal';
import type { Period } from '../time';
import {
  type Aggregation,
  AGGREGATIONS,
  carryOverStart,
  FOR_EVER,
  readingsOf,
  type TotalsByGroup,
  usageOfWindow,
  type UsageTotals,
  valueOf,
} from './index';

const march: Period = {
  startAt: new Date('2026-03-01T00:00:00Z'),
  endAt: new Date('2026-04-01T00:00:00Z'),
};
const event = (occurredAt: string, value: string | null, key: string | null = null) => ({
  occurredAt: new Date(occurredAt),
  value: value === null ? null : parseDecimal(value),
  key,
});
const usageOf = (
  aggregation: Aggregation,
  events: readonly MeteredEvent[],
  period: Period,
  carriedOver = ZERO,
) => valueOf(aggregation, totalsOf(events, period), period, carriedOver);
const value = (aggregation: Aggregation, events: readonly MeteredEvent[], carriedOver = ZERO) =>
  formatExact(usageOf(aggregation, events, march, carriedOver));
/** Value of a weighted sum at the end of a period, with which the next period starts. */
const heldAtEnd = (events: readonly MeteredEvent[], period: Period, held = ZERO): Rational => {
  const nextDay = { startAt: period.endAt, endAt: new Date(period.endAt.getTime() + 86_400_000) };
  const totals = [totalsOf(events, period), totalsOf([], nextDay)];
  const before = { ...totalsOf([], period), total: held };
  const [, next] = readingsOf(
    { aggregation: 'weighted_sum', groupBy: [] },
    [period, nextDay],
    totals.map((one) => new Map([['[]', one]])),
    new Map([['[]', before]]),
  );
  return next?.[0]?.value ?? ZERO;
};

const events = [
  event('2026-02-28T23:59:59.999Z', '1000', 'before'),
  event('2026-03-01T00:00:00Z', '1.5', 'a'),
  event('2026-03-20T00:00:00Z', '-4', 'b'),
  event('2026-03-10T00:00:00Z', '2.25', 'a'),
  event('2026-03-31T23:59:59.999Z', null, null),
  event('2026-04-01T00:00:00Z', '1000', 'after'),
];

describe('an aggregation reads the events of its period', () => {
  test.each<[Aggregation, string]>([
    ['count', '4'],
    ['sum', '-0.25'],
    ['max', '2.25'],
    ['unique', '2'],
    ['latest', '-4'],
  ])('%s is %s', (aggregation, expected) => {
    expect(value(aggregation, events)).toBe(expected);
  });

  test.each<Aggregation>(['count', 'sum', 'max', 'unique', 'latest', 'weighted_sum'])(
    '%s of no events is 0',
    (aggregation) => {
      expect(value(aggregation, [])).toBe('0');
    },
  );

  test('the greatest of values below zero is below zero', () => {
    expect(value('max', [event('2026-03-02Z', '-5'), event('2026-03-03Z', '-3')])).toBe('-3');
  });

  test('of two values at one instant the one accepted last is the latest', () => {
    expect(value('latest', [event('2026-03-02Z', '5'), event('2026-03-02Z', '3')])).toBe('3');
  });

  test('keys differ by their exact text', () => {
    const keys = ['1', '1.0', 'A', 'a', 'a'].map((key) => event('2026-03-02Z', null, key));
    expect(value('unique', keys)).toBe('4');
  });

  test('decimals add up exactly', () => {
    const tenths = Array.from({ length: 1000 }, () => event('2026-03-02Z', '0.1'));
    expect(value('sum', tenths)).toBe('100');
  });
});

describe('a weighted sum holds each change to the end of the period', () => {
  const fifth = event('2026-03-05T00:00:00Z', '2500');

  test.each<[string, MeteredEvent[], string, string]>([
    ['2500 for 27 of 31 days', [fifth], '0', '67500/31'],
    ['from the first second it is the value', [event('2026-03-01Z', '10')], '0', '10'],
    ['a change back ends it', [fifth, event('2026-03-06Z', '-2500')], '0', '2500/31'],
    ['carried over for the whole period', [], '40', '40'],
    ['carried over and changed', [event('2026-03-16T12:00:00Z', '-20')], '40', '30'],
    ['the last second', [event('2026-03-31T23:59:59Z', '2678400')], '0', '1'],
  ])('%s', (_, given, carriedOver, expected) => {
    expect(value('weighted_sum', given, parseDecimal(carriedOver))).toBe(expected);
  });

  test('what it holds at the end is carried over', () => {
    expect(heldAtEnd([fifth, ...events], march, rational(7n))).toEqual(parseDecimal('2506.75'));
  });

  test('a period without time has the quantity 0', () => {
    const empty = { startAt: march.startAt, endAt: march.startAt };
    const given = [event('2026-03-01T00:00:00Z', '3')];
    for (const aggregation of AGGREGATIONS) {
      expect(usageOf(aggregation, given, empty)).toEqual(ZERO);
    }
    expect(usageOf('weighted_sum', given, empty, rational(40n))).toEqual(ZERO);
  });

  test('an instant counts to the millisecond', () => {
    const held = [event('2026-03-31T23:59:59.500Z', '2678400')];
    expect(value('weighted_sum', held)).toBe('0.5');
  });

  test('one second is enough to weigh over', () => {
    const second = { startAt: march.startAt, endAt: new Date('2026-03-01T00:00:01Z') };
    const held = usageOf('weighted_sum', [event('2026-03-01T00:00:00Z', '3')], second);
    expect(held).toEqual(rational(3n));
  });
});

const anyEvents = fc.array(
  fc.record({
    occurredAt: fc.date({ min: march.startAt, max: march.endAt, noInvalidDate: true }),
    value: fc.integer({ min: -1000, max: 1000 }).map((units) => rational(BigInt(units), 8n)),
    key: fc.constantFrom('a', 'b', 'c', null),
  }),
  { maxLength: 30 },
);

describe('for any events', () => {
  test('count and sum of two halves add up, and a weighted sum carries over', () => {
    fc.assert(
      fc.property(anyEvents, fc.integer({ min: 1, max: 30 }), (given, day) => {
        const boundaryAt = new Date(march.startAt.getTime() + day * 86_400_000);
        const first = { startAt: march.startAt, endAt: boundaryAt };
        const second = { startAt: boundaryAt, endAt: march.endAt };
        for (const aggregation of ['count', 'sum'] as const) {
          const halves = [first, second].map((half) => usageOf(aggregation, given, half));
          expect(halves.reduce(add)).toEqual(usageOf(aggregation, given, march));
        }
        const held = heldAtEnd(given, first);
        expect(heldAtEnd(given, second, held)).toEqual(heldAtEnd(given, march));
        const weigh = (half: Period, from = ZERO) => usageOf('weighted_sum', given, half, from);
        const [firstDays, secondDays] = [BigInt(day), BigInt(31 - day)];
        const [left, right] = [weigh(first), weigh(second, held)];
        const both = rational(
          left.numerator * firstDays * right.denominator +
            right.numerator * secondDays * left.denominator,
          left.denominator * right.denominator * 31n,
        );
        expect(both).toEqual(weigh(march));
      }),
    );
  });

  test('the order in which they came plays no role, except for the latest', () => {
    fc.assert(
      fc.property(anyEvents, (given) => {
        for (const aggregation of ['count', 'sum', 'max', 'unique', 'weighted_sum'] as const) {
          const forwards = usageOf(aggregation, given, march);
          expect(usageOf(aggregation, [...given].reverse(), march)).toEqual(forwards);
        }
      }),
    );
  });
});

describe('the usage of a registered window', () => {
  const anyHeld = fc.integer({ min: -50, max: 50 }).map((units) => rational(BigInt(units)));
  const anyAggregation = fc.constantFrom(...AGGREGATIONS);
  const windowUsage = (
    aggregation: Aggregation,
    given: readonly MeteredEvent[],
    part: Period,
    heldUntil?: Date,
    held = ZERO,
  ) => usageOfWindow(aggregation, totalsOf(given, part), { ...part, heldUntil }, held);

  test('is the quantity of the period if the window has an end', () => {
    fc.assert(
      fc.property(anyAggregation, anyEvents, anyHeld, (aggregation, given, held) => {
        const used = windowUsage(aggregation, given, march, undefined, held);
        expect(used).toEqual(usageOf(aggregation, given, march, held));
      }),
    );
  });

  test('of a part is the quantity of the whole window without the events after the part', () => {
    fc.assert(
      fc.property(
        anyAggregation,
        anyEvents,
        anyHeld,
        fc.date({
          min: new Date(march.startAt.getTime() + 1),
          max: march.endAt,
          noInvalidDate: true,
        }),
        (aggregation, given, held, at) => {
          const part = { startAt: march.startAt, endAt: at };
          const before = given.filter(({ occurredAt }) => occurredAt < at);
          expect(windowUsage(aggregation, given, part, march.endAt, held)).toEqual(
            aggregate(aggregation, before, march, aggregation === 'weighted_sum' ? held : ZERO),
          );
        },
      ),
    );
  });

  test('without an end is the sum of the values for a weighted sum', () => {
    const endless = { startAt: march.startAt, endAt: FOR_EVER };
    const until = { startAt: march.startAt, endAt: new Date('2026-03-31T00:00:00Z') };
    const figures = (aggregation: Aggregation) =>
      [
        windowUsage(aggregation, events, endless),
        windowUsage(aggregation, events, until, FOR_EVER),
        windowUsage(aggregation, events, until, FOR_EVER, rational(7n)),
      ].map(formatExact);
    expect(figures('weighted_sum')).toEqual(['999.75', '-0.25', '6.75']);
    expect(figures('max')).toEqual(['1000', '2.25', '2.25']);
  });
});

describe('values held from before a period', () => {
  const since = new Date('2026-02-10T00:00:00Z');

  test.each<[Aggregation, boolean, Date | undefined, string | null]>([
    ['sum', false, since, null],
    ['weighted_sum', false, undefined, null],
    ['weighted_sum', false, since, '2026-02-10T00:00:00.000Z'],
    ['weighted_sum', true, undefined, '0001-01-01T00:00:00.000Z'],
    ['weighted_sum', true, since, '0001-01-01T00:00:00.000Z'],
  ])('%s, recurring %j, since %j: from %j', (aggregation, isRecurring, heldSince, expected) => {
    const from = carryOverStart({ aggregation, isRecurring }, heldSince);
    expect(from?.toISOString() ?? null).toBe(expected);
  });
});

describe('readings of adjoining windows', () => {
  const day = (number: number): Date => new Date(Date.UTC(2026, 2, number));
  const windows = [
    { startAt: day(1), endAt: day(2) },
    { startAt: day(2), endAt: day(3) },
    { startAt: day(3), endAt: day(4) },
  ];
  const DAY_MS = 86_400_000n;
  /** Totals of one event at the start of a day. */
  const changed = (units: bigint): UsageTotals => ({
    events: 1n,
    total: rational(units),
    greatest: rational(units),
    latest: rational(units),
    heldMs: rational(units * DAY_MS),
    distinctValues: 1n,
  });
  const byGroup = (...groups: (readonly [group: string, units: bigint])[]): TotalsByGroup =>
    new Map(groups.map(([group, units]) => [group, changed(units)]));
  const shown = (...asked: Parameters<typeof readingsOf>) =>
    [...readingsOf(...asked)].map((window) =>
      window.map(({ group, value: read, events: count }) => [
        group.join('/'),
        formatExact(read),
        Number(count),
      ]),
    );

  test('without groups each window has one value', () => {
    const totals = [byGroup(['[]', 5n]), byGroup(), byGroup(['[]', 2n])];
    expect(shown({ aggregation: 'sum', groupBy: [] }, windows, totals, null)).toEqual([
      [['', '5', 1]],
      [['', '0', 0]],
      [['', '2', 1]],
    ]);
  });

  test('with groups a window lists those with usage, in order', () => {
    const totals = [byGroup(['["us"]', 5n], ['["eu"]', 7n]), byGroup(), byGroup(['["us"]', 2n])];
    expect(shown({ aggregation: 'max', groupBy: ['region'] }, windows, totals, null)).toEqual([
      [
        ['eu', '7', 1],
        ['us', '5', 1],
      ],
      [],
      [['us', '2', 1]],
    ]);
  });

  test('held values go on from window to window until they are zero', () => {
    const totals = [byGroup(['["us"]', 5n]), byGroup(['["eu"]', -3n]), byGroup()];
    const rule = { aggregation: 'weighted_sum', groupBy: ['region'] } as const;
    expect(shown(rule, windows, totals, byGroup(['["eu"]', 3n], ['["ap"]', 0n]))).toEqual([
      [
        ['eu', '3', 0],
        ['us', '5', 1],
      ],
      [
        ['eu', '0', 1],
        ['us', '5', 0],
      ],
      [['us', '5', 0]],
    ]);
  });

  test('without held values each window starts at zero', () => {
    const totals = [byGroup(['[]', 4n]), byGroup(), byGroup()];
    expect(shown({ aggregation: 'weighted_sum', groupBy: [] }, windows, totals, null)).toEqual([
      [['', '4', 1]],
      [['', '0', 0]],
      [['', '0', 0]],
    ]);
  });
});
