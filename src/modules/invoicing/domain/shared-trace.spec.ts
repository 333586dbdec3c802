import { parseDecimal } from '../../../core/decimal';
import { rate, type Price } from '../../../core/rating';
import { joinTrace, splitTrace } from './shared-trace';
import type { LineTrace, RatedTrace } from './trace';

const SEATS: Price = { model: 'per_unit', unitAmount: '712.5' };
const { steps } = rate(SEATS, { kind: 'quantity', quantity: parseDecimal('7') });
const RATED: RatedTrace = { kind: 'rated', price: SEATS, quantity: '7', steps, proration: null };
const HALF = { numerator: 15n, denominator: 30n, unit: 'day' } as const;

describe('the shared part of a trace', () => {
  it('is all of a rated trace but its proration', () => {
    const { proration: _none, ...shared } = RATED;
    expect(splitTrace(RATED)).toEqual({ shared, own: null });
    expect(splitTrace({ ...RATED, proration: HALF })).toEqual({ shared, own: { proration: HALF } });
  });

  it.each<LineTrace>([
    RATED,
    { ...RATED, proration: HALF },
    { kind: 'fixed', amountMinor: 500n },
    { kind: 'true_up', billedMinor: 5n, minimumMinor: 9n, maximumMinor: null, proration: null },
  ])('and the rest of it give the trace again: %j', (trace) => {
    expect(joinTrace(splitTrace(trace))).toEqual(trace);
  });

  it('cannot be replaced by the rest', () => {
    expect(joinTrace({ shared: null, own: null })).toBeNull();
    expect(joinTrace({ shared: null, own: { proration: HALF } })).toBeNull();
  });
});
