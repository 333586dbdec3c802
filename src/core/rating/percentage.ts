import {
  add,
  compare,
  greaterOf,
  lesserOf,
  multiply,
  parseDecimal,
  subtract,
  sum,
  ZERO,
  type Rational,
} from '../decimal';
import type { PercentagePrice } from './price';
import { exactly, lumpStep, ratedAmount, step, type RatedAmount, type TraceStep } from './trace';

/**
 * The percentage amount for events with the base amounts given, in minor units, in the order in
 * which they happened. While both free quotas last, an event is free; the event that crosses the
 * free amount is charged for what lies beyond it, with the fixed amount; then all is charged. Each
 * charged event is clamped to its minimum and maximum. Exact; the steps sum up all events, so that
 * a trace stays short.
 */
export function ratePercentage(
  price: PercentagePrice,
  baseAmounts: readonly Rational[],
): RatedAmount {
  const rate = parseDecimal(price.rate);
  const fixedAmount = exactly(price.fixedAmountMinor);
  const raisedBy: Rational[] = [];
  const loweredBy: Rational[] = [];
  const charged = chargedParts(price, baseAmounts);
  for (const base of charged) {
    const amount = add(multiply(rate, base), fixedAmount);
    const clamped = clamp(amount, price.eventMinimumMinor, price.eventMaximumMinor);
    const change = subtract(clamped, amount);
    (compare(change, ZERO) > 0 ? raisedBy : loweredBy).push(change);
  }

  const steps: TraceStep[] = [step('rate', sum(charged), rate)];
  if (price.fixedAmountMinor !== 0n) {
    steps.push(step('fixed', exactly(BigInt(charged.length)), fixedAmount));
  }
  if (price.eventMinimumMinor !== null) {
    steps.push(lumpStep('event_minimum', sum(raisedBy)));
  }
  if (price.eventMaximumMinor !== null) {
    steps.push(lumpStep('event_maximum', sum(loweredBy)));
  }
  return ratedAmount(steps);
}

/** The base amount, less its free part, of each event that is not wholly free. */
function chargedParts(price: PercentagePrice, baseAmounts: readonly Rational[]): Rational[] {
  const freeAmount = price.freeAmountMinor > 0n ? exactly(price.freeAmountMinor) : null;
  const freeEvents = price.freeEvents > 0n ? price.freeEvents : null;
  let hasQuota = freeAmount !== null || freeEvents !== null;
  let seenEvents = 0n;
  let seenAmount = ZERO;
  const charged: Rational[] = [];
  for (const base of baseAmounts) {
    if (!hasQuota) {
      charged.push(base);
      continue;
    }
    seenEvents += 1n;
    seenAmount = add(seenAmount, base);
    if (freeAmount !== null && compare(seenAmount, freeAmount) > 0) {
      charged.push(subtract(seenAmount, freeAmount));
      hasQuota = false;
      continue;
    }
    const amountIsUsedUp = freeAmount !== null && compare(seenAmount, freeAmount) === 0;
    hasQuota = !amountIsUsedUp && (freeEvents === null || seenEvents < freeEvents);
  }
  return charged;
}

function clamp(amount: Rational, minimum: bigint | null, maximum: bigint | null): Rational {
  const raised = minimum === null ? amount : greaterOf(amount, exactly(minimum));
  return maximum === null ? raised : lesserOf(raised, exactly(maximum));
}
