import { add, formatExact, multiply, parseExact, rational, sum, type Rational } from '../decimal';

/**
 * One term of an amount: `quantity` x `unitAmount` + `flatAmount`, each an exact number as text ({@link formatExact}).
 * The terms of a {@link RatedAmount} add up to its amount exactly.
 */
export type TraceStep = {
  readonly kind:
    'flat' | 'unit' | 'tier' | 'package' | 'rate' | 'fixed' | 'event_minimum' | 'event_maximum';
  /** Position of the tier from 0; absent without tiers. */
  readonly tier?: number;
  readonly quantity: string;
  readonly unitAmount: string;
  readonly flatAmount: string;
};

/** Exact amount in minor units, not yet rounded, and the steps of its calculation. */
export type RatedAmount = { readonly amount: Rational; readonly steps: readonly TraceStep[] };

/** Returns the exact amount of the steps, in minor units. */
export function amountOfSteps(steps: readonly TraceStep[]): Rational {
  return sum(
    steps.map(({ quantity, unitAmount, flatAmount }) =>
      add(multiply(parseExact(quantity), parseExact(unitAmount)), parseExact(flatAmount)),
    ),
  );
}

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

export function amountStep(kind: TraceStep['kind'], amount: Rational): TraceStep {
  return { kind, quantity: '0', unitAmount: '0', flatAmount: formatExact(amount) };
}

export function ratedAmount(steps: readonly TraceStep[]): RatedAmount {
  return { amount: amountOfSteps(steps), steps };
}

export function toRational(amountMinor: bigint): Rational {
  return rational(amountMinor);
}
