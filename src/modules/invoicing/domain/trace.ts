import { parseExact, rational, subtract, ZERO, type Rational } from '../../../core/decimal';
import {
  creditShare,
  unusedShare,
  type PrepaidLine,
  type CreditedShare,
} from '../../../core/invoice';
import type { Proration } from '../../../core/proration';
import { parseDecimal } from '../../../core/decimal';
import { exactAtLine, rate, roundAtLine, trueUp, type Price } from '../../../core/rating';
import type { TraceStep } from '../../../core/rating';
import type { HeldDiscount, HeldTerms } from './held-terms';
import { evaluateUsage, exactUsage, type UsageTrace } from './usage';

/** Record of how the amount of a line was calculated. {@link evaluate} calculates the amount again from it. */
export type LineTrace = RatedTrace | UsageTrace | CreditTrace | TrueUpTrace | FixedTrace;

export interface RatedTrace {
  readonly kind: 'rated';
  readonly price: Price;
  readonly quantity: string;
  /** Steps that calculate the price of the full period. */
  readonly steps: readonly TraceStep[];
  readonly proration: Proration | null;
}

export interface CreditTrace {
  readonly kind: 'credit';
  /**
   * Amount of the credited line and its true-ups for a full period: the billed amount divided by the billed share of
   * the period. An exact number in text form. Credits made before decision 137 have the price before rounding here.
   */
  readonly fullAmount: string;
  readonly billedProration: Proration | null;
  readonly billedMinor: bigint;
  readonly discountMinor: bigint;
  /** Amount that earlier credit lines and credit notes took back from the credited line and its true-ups. */
  readonly creditedMinor: bigint;
  readonly unused: Proration;
  /**
   * Amounts left on the credited line and its true-ups, after discounts and earlier credits. Absent from older credits,
   * which were calculated at list prices.
   */
  readonly held?: HeldTerms;
  /** Largest amount that the credit may have. Present only if refunds of the credited invoice reduce the credit. */
  readonly mostMinor?: bigint;
  readonly returned?: readonly HeldDiscount[];
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

/** Returns the amount of a line, in minor units, from its trace alone. */
export function evaluate(trace: LineTrace): bigint {
  switch (trace.kind) {
    case 'rated':
      return roundAtLine(fullPrice(trace), trace.proration);
    case 'usage':
      return evaluateUsage(trace);
    case 'credit':
      return -creditOf(trace).amountMinor;
    case 'true_up':
      return trueUp(trace.billedMinor, trace, trace.proration)?.amountMinor ?? 0n;
    case 'fixed':
      return trace.amountMinor;
  }
}

/**
 * Returns the amount of a line before rounding, in minor units. Null for credits and usage corrections, because they
 * are shares of rounded amounts.
 */
export function exactAmountOf(trace: LineTrace): Rational | null {
  switch (trace.kind) {
    case 'rated':
      return exactAtLine(fullPrice(trace), trace.proration);
    case 'usage':
      return trace.corrects === null ? exactUsage(trace) : null;
    case 'credit':
      return null;
    case 'true_up': {
      const found = trueUp(trace.billedMinor, trace, trace.proration);
      const limitMinor = found?.kind === 'minimum' ? trace.minimumMinor : trace.maximumMinor;
      if (found === null || limitMinor === null) return ZERO;
      const limit = exactAtLine(rational(limitMinor), trace.proration);
      return subtract(limit, rational(trace.billedMinor));
    }
    case 'fixed':
      return rational(trace.amountMinor);
  }
}

function fullPrice({ price, quantity }: RatedTrace): Rational {
  return rate(price, { kind: 'quantity', quantity: parseDecimal(quantity) }).amount;
}

export function creditOf(trace: CreditTrace): CreditedShare<HeldDiscount> {
  const line = billedLineOf(trace);
  if (trace.held === undefined) {
    return { amountMinor: creditAtListPrice(line, trace.unused), discounts: [] };
  }
  return creditShare(trace.held, unusedShare(line, trace.unused), trace.mostMinor);
}

/**
 * Returns the credit for an unused part at list prices. Older releases used this rule; credits stored by them are
 * evaluated by it.
 */
export function creditAtListPrice(line: PrepaidLine, unused: Proration): bigint {
  const heldMinor = line.amountMinor - line.discountMinor - line.creditedMinor;
  const unusedMinor = roundAtLine(line.fullAmount, unused);
  return unusedMinor < heldMinor ? unusedMinor : heldMinor;
}

function billedLineOf(trace: CreditTrace): PrepaidLine {
  return {
    fullAmount: parseExact(trace.fullAmount),
    proration: trace.billedProration,
    amountMinor: trace.billedMinor,
    discountMinor: trace.discountMinor,
    creditedMinor: trace.creditedMinor,
  };
}
