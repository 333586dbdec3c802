import {
  type CarryOver,
  type BillableSpan,
  type SubscribedSpan,
  unbillablePeriods,
} from './unbillable';

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const NOW = day(25);

function sold(from: number, to: number | null, more: Partial<BillableSpan> = {}): BillableSpan {
  const endAt = to === null ? null : day(to);
  return {
    startAt: day(from),
    endAt,
    trialEndAt: null,
    periodStartAt: day(1),
    awaitsResume: false,
    pause: null,
    ...more,
  };
}

const since = (from: number, to: number | null = null): SubscribedSpan => ({
  startAt: day(from),
  endAt: to === null ? null : day(to),
});

/** Returns start and end of the unbillable periods as days of January. */
function shown(
  subscribed: readonly SubscribedSpan[],
  items: readonly BillableSpan[],
  carryOver: CarryOver = 'none',
): readonly (readonly [number, number])[] {
  return unbillablePeriods(subscribed, items, carryOver, NOW).map(({ startAt, endAt }) => [
    startAt.getUTCDate(),
    endAt.getUTCDate(),
  ]);
}

describe('usage that nothing bills', () => {
  it('is none of a customer without a subscription, nor before or after it', () => {
    expect(shown([], [])).toEqual([]);
    expect(shown([since(5, 9)], [sold(5, 9)])).toEqual([]);
    expect(shown([since(5)], [sold(5, null)])).toEqual([]);
  });

  it('is that of a subscription without the price, up to now', () => {
    expect(shown([since(5)], [])).toEqual([[5, 25]]);
    expect(shown([since(26)], [])).toEqual([]);
    expect(shown([since(1, 20)], [sold(1, 3), sold(7, 12), sold(9, 15)])).toEqual([
      [3, 7],
      [15, 20],
    ]);
  });

  it('is not that which another subscription bills', () => {
    const pause = { plannedEndAt: null, periodEndAt: day(31) };
    expect(shown([since(1), since(10)], [sold(1, 9, { pause }), sold(12, null)])).toEqual([
      [9, 12],
      [10, 12],
    ]);
  });

  it('is that of a trial', () => {
    const trial = { trialEndAt: day(8) };
    expect(shown([since(1)], [sold(1, null, trial)])).toEqual([[1, 8]]);
    expect(shown([since(1)], [sold(1, 4, trial)])).toEqual([[1, 25]]);
    expect(shown([since(1)], [sold(1, null, trial)], 'period')).toEqual([[1, 8]]);
    expect(shown([since(1)], [sold(1, null, trial)], 'for_ever')).toEqual([]);
    expect(shown([since(1, 4)], [sold(1, 4, trial)], 'for_ever')).toEqual([[1, 4]]);
  });

  it('is that of a pause, of what is not held on', () => {
    const pause = { plannedEndAt: null, periodEndAt: day(31) };
    expect(shown([since(1)], [sold(1, 9, { pause })])).toEqual([[9, 25]]);
    expect(shown([since(1)], [sold(1, 9), sold(13, null)])).toEqual([[9, 13]]);
  });

  it('is that of a pause in which the price was to start, of what a resume does not bill', () => {
    const planned = sold(12, null, { periodStartAt: null, awaitsResume: true });
    const items = [sold(1, 9), planned];
    expect(shown([since(1)], items)).toEqual([[9, 25]]);
    expect(shown([since(1)], items, 'period')).toEqual([[9, 25]]);
    expect(shown([since(1)], items, 'for_ever')).toEqual([]);
  });

  it('may be billed still, while what is held on may be resumed in its period', () => {
    const within = { plannedEndAt: null, periodEndAt: day(31) };
    const over = { plannedEndAt: null, periodEndAt: day(20) };
    const planned = { plannedEndAt: day(12), periodEndAt: day(31) };
    expect(shown([since(1)], [sold(1, 9, { pause: within })], 'period')).toEqual([]);
    expect(shown([since(1)], [sold(1, 9, { pause: over })], 'period')).toEqual([[9, 25]]);
    expect(shown([since(1)], [sold(1, 9, { pause: planned })], 'period')).toEqual([[9, 25]]);
    expect(shown([since(1)], [sold(1, 9, { pause: over })], 'for_ever')).toEqual([]);
    expect(shown([since(1)], [sold(1, 9, { pause: planned })], 'for_ever')).toEqual([[9, 25]]);
  });

  it('is not that of a pause within the period, of what is held on', () => {
    const [before, after] = [sold(1, 9), sold(13, 20)];
    expect(shown([since(1, 22)], [before, after], 'period')).toEqual([[20, 22]]);
    expect(shown([since(1, 22)], [before, after], 'for_ever')).toEqual([[20, 22]]);
    const anew = sold(13, 20, { periodStartAt: day(13) });
    expect(shown([since(1, 22)], [before, anew], 'period')).toEqual([
      [9, 13],
      [20, 22],
    ]);
    expect(shown([since(1, 22)], [before, sold(13, 13)], 'period')).toEqual([[9, 22]]);
  });
});
