import { add, formatExact, multiply, parseExact, rational, sum, type Rational } from '../decimal';

/**
 * One term of an amount: `quantity` x `unitAmount` + `flatAmount`, as exact texts, so that the
 * stored trace of a line can be evaluated again and gives the stored amount.
 */
export type TraceStep = {
  readonly kind:
    'flat' | 'unit' | 'tier' | 'package' | 'rate' | 'fixed' | 'event_minimum' | 'event_maximum';
  /** Position of the tier from 0, for a tier. */
  readonly tier?: number;
  readonly quantity: string;
  readonly unitAmount: string;
  readonly flatAmount: string;
};

/** Result of a pricer: the exact amount in minor units, not yet rounded, and the steps of its calculation. */
export type RatedAmount = { readonly amount: Rational; readonly steps: readonly TraceStep[] };

/** The exact amount of a trace, in minor units. */
export function amountOfSteps(steps: readonly TraceStep[]): Rational {
  return sum(
    steps.map(({ quantity, unitAmount, flatAmount }) =>
      add(multiply(parseExact(quantity), parseExact(unitAmount)), parseExact(flatAmount)),
    ),
  );
}

/** A step of units at a price each; its flat amount is zero unless given. */
export function step(
  kind: TraceStep['kind'],
  quantity: Rational,
  unitAmount: Rational,
  flatAmountMinor = 0n,
): TraceStep {
  return {
    kind,
    quantity: formatExact(quantity),
    unitAmount: formatExact(unitAmount),
    flatAmount: flatAmountMinor.toString(),
  };
}

/** A step that is a sum of its own and has no units. */
export function lumpStep(kind: TraceStep['kind'], amount: Rational): TraceStep {
  return { kind, quantity: '0', unitAmount: '0', flatAmount: formatExact(amount) };
}

/** The rated amount that the steps make. */
export function ratedAmount(steps: readonly TraceStep[]): RatedAmount {
  return { amount: amountOfSteps(steps), steps };
}

/** Whole minor units as an exact number. */
export function exactly(amountMinor: bigint): Rational {
  return rational(amountMinor);
}
