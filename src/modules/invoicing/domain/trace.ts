import { add, parseExact, rational, ZERO, type Rational } from '../../../core/decimal';
import { creditForUnused, type BilledLine } from '../../../core/invoice';
import type { Proration } from '../../../core/proration';
import { parseDecimal } from '../../../core/decimal';
import { amountOfSteps, rate, roundAtLine, trueUp, type Price } from '../../../core/rating';
import type { TraceStep } from '../../../core/rating';
import { evaluateUsage, type UsageTrace } from './usage';

/** How the amount of a line came about: evaluated again by the same functions, it gives the amount again. */
export type LineTrace = RatedTrace | UsageTrace | CreditTrace | TrueUpTrace | FixedTrace;

export interface RatedTrace {
  readonly kind: 'rated';
  /** The price as it was. */
  readonly price: Price;
  readonly quantity: string;
  /** What the full period costs, step by step. */
  readonly steps: readonly TraceStep[];
  readonly proration: Proration | null;
}

export interface CreditTrace {
  readonly kind: 'credit';
  /** Exact amount of the credited line for its full period, as text. */
  readonly fullAmount: string;
  readonly billedProration: Proration | null;
  readonly billedMinor: bigint;
  readonly discountMinor: bigint;
  /** Taken back before this line. */
  readonly creditedMinor: bigint;
  readonly unused: Proration;
}

export interface TrueUpTrace {
  readonly kind: 'true_up';
  readonly billedMinor: bigint;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
  readonly proration: Proration | null;
}

export interface FixedTrace {
  readonly kind: 'fixed';
  readonly amountMinor: bigint;
}

/** The amount of a line, in minor units, from its trace alone. */
export function evaluate(trace: LineTrace): bigint {
  switch (trace.kind) {
    case 'rated': {
      const quantity = parseDecimal(trace.quantity);
      return roundAtLine(rate(trace.price, { kind: 'quantity', quantity }).amount, trace.proration);
    }
    case 'usage':
      return evaluateUsage(trace);
    case 'credit':
      return -creditForUnused(billedLineOf(trace), trace.unused);
    case 'true_up':
      return trueUp(trace.billedMinor, trace, trace.proration)?.amountMinor ?? 0n;
    case 'fixed':
      return trace.amountMinor;
  }
}

/** The exact amount of a line for its full period, of which an unused part is credited. */
export function fullAmountOf(trace: LineTrace): Rational {
  switch (trace.kind) {
    case 'rated':
      return amountOfSteps(trace.steps);
    case 'true_up': {
      // The amount that, prorated, is the true-up.
      const { numerator, denominator } = trace.proration ?? { numerator: 1n, denominator: 1n };
      return numerator === 0n ? ZERO : rational(evaluate(trace) * denominator, numerator);
    }
    case 'fixed':
      return rational(trace.amountMinor);
    // Neither is ever unused: usage is billed when it is over.
    case 'usage':
    case 'credit':
      return ZERO;
  }
}

/** The sum of exact amounts. */
export function sumOf(amounts: readonly Rational[]): Rational {
  return amounts.reduce(add, ZERO);
}

function billedLineOf(trace: CreditTrace): BilledLine {
  return {
    fullAmount: parseExact(trace.fullAmount),
    proration: trace.billedProration,
    amountMinor: trace.billedMinor,
    discountMinor: trace.discountMinor,
    creditedMinor: trace.creditedMinor,
  };
}
