import { add, formatExact, multiply, parseExact, rational, sum, type Rational } from '../decimal';

/**
 * One term of an amount: `quantity` x `unitAmount` + `flatAmount`, as exact texts. The stored trace of a line gives the stored
 * amount when it is evaluated again.
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

/** Makes a step: quantity times unit amount, plus a flat amount (0 by default). */
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

/** Makes a step with an amount and no units. */
export function amountStep(kind: TraceStep['kind'], amount: Rational): TraceStep {
  return { kind, quantity: '0', unitAmount: '0', flatAmount: formatExact(amount) };
}

/** Returns the sum of the steps as a rated amount. */
export function ratedAmount(steps: readonly TraceStep[]): RatedAmount {
  return { amount: amountOfSteps(steps), steps };
}

/** Converts whole minor units to an exact number. */
export function toRational(amountMinor: bigint): Rational {
  return rational(amountMinor);
}
