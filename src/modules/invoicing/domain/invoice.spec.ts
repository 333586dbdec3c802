import { reachableFrom } from '../../../../test/support/reachable';
import { isTerminal } from '../../../core/states';
import { INVOICE_STATUSES, INVOICE_TRANSITIONS } from './invoice';
import { evaluate, type LineTrace } from './trace';

describe('the states of an invoice', () => {
  it('are all reached from a draft, and end paid or void', () => {
    expect([...reachableFrom(INVOICE_TRANSITIONS, 'draft')].sort()).toEqual(
      [...INVOICE_STATUSES].sort(),
    );
    expect(INVOICE_STATUSES.filter((status) => isTerminal(INVOICE_TRANSITIONS, status))).toEqual([
      'paid',
      'void',
    ]);
  });
});

describe('a trace', () => {
  const half = { numerator: 15n, denominator: 30n, unit: 'day' } as const;
  const rated: LineTrace = {
    kind: 'rated',
    price: { model: 'per_unit', unitAmount: '333.33' },
    quantity: '3',
    steps: [{ kind: 'unit', quantity: '3', unitAmount: '333.33', flatAmount: '0' }],
    proration: half,
  };
  const credit: LineTrace = {
    kind: 'credit',
    fullAmount: '3000',
    billedProration: null,
    billedMinor: 3_000n,
    discountMinor: 1_000n,
    creditedMinor: 500n,
    unused: half,
  };
  const trueUp: LineTrace = {
    kind: 'true_up',
    billedMinor: 100n,
    minimumMinor: 600n,
    maximumMinor: null,
    proration: half,
  };

  it.each([
    ['of a price, prorated and rounded once', rated, 500n],
    ['of a credit', credit, -1_500n],
    ['of a credit, at most what the line still holds', { ...credit, creditedMinor: 900n }, -1_100n],
    ['of a minimum', trueUp, 200n],
    ['of a limit that is kept', { ...trueUp, billedMinor: 300n }, 0n],
    ['of an amount somebody chose', { kind: 'fixed', amountMinor: -7n }, -7n],
  ] as const)('%s gives the amount', (_, trace, amount) => {
    expect(evaluate(trace)).toBe(amount);
  });
});
