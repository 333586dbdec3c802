import {
  add,
  compare,
  greaterOf,
  lesserOf,
  multiply,
  parseDecimal,
  rational,
  subtract,
  ZERO,
  type Rational,
} from '../decimal';
import type { PercentagePrice } from './price';
import {
  toRational,
  amountStep,
  ratedAmount,
  step,
  type RatedAmount,
  type TraceStep,
} from './trace';

/** Sums over the charged events of a percentage price. The price of the events can be calculated from these sums. */
export type ChargedEvents = {
  /** Number of events that are not wholly free. */
  readonly events: bigint;
  /** Sum of the base amounts of the charged events, without their free parts, in minor units. */
  readonly base: Rational;
  /** Amount added by the minimum per event, and by the rule that all events together cost at least zero. */
  readonly raisedBy: Rational;
  /** Amount taken off by the maximum per event; zero or less. */
  readonly loweredBy: Rational;
};

/** Adds up the charges for events one at a time, so that the events need not be in memory together. */
export interface EventCharger {
  /** Adds one event, given its base amount in minor units. Events must be added in time order. */
  readonly add: (base: Rational) => void;
  readonly charged: () => ChargedEvents;
}

/**
 * Returns a charger for the events of a percentage price. Nothing is rounded.
 * - Events are free until the free events or the free amount are used up, whichever happens first. Later events are
 *   charged.
 * - An event that is only partly free costs the fixed amount plus the rate on the part that is not free.
 * - The price's minimum and maximum per event limit the cost of each charged event.
 * - All events together cost at least zero, even if their base amounts are negative (refunds).
 */
export function chargeEvents(price: PercentagePrice): EventCharger {
  const rate = parseDecimal(price.rate);
  const fixedAmount = toRational(price.fixedAmountMinor);
  const chargedPart = freeQuota(price);
  let events = 0n;
  let base = ZERO;
  let raisedBy = ZERO;
  let loweredBy = ZERO;
  return {
    add(baseAmount) {
      const charged = chargedPart(baseAmount);
      if (charged === null) return;
      const amount = add(multiply(rate, charged), fixedAmount);
      const clamped = clamp(amount, price.eventMinimumMinor, price.eventMaximumMinor);
      const change = subtract(clamped, amount);
      events += 1n;
      base = add(base, charged);
      if (compare(change, ZERO) > 0) raisedBy = add(raisedBy, change);
      else loweredBy = add(loweredBy, change);
    },
    charged() {
      const limits = add(raisedBy, loweredBy);
      const fees = multiply(rational(events), fixedAmount);
      const amount = add(add(multiply(rate, base), fees), limits);
      const raised = compare(amount, ZERO) < 0 ? subtract(raisedBy, amount) : raisedBy;
      return { events, base, raisedBy: raised, loweredBy };
    },
  };
}

/** Returns the amount in minor units. Each step of the trace is a sum over all events, which keeps the trace short. */
export function ratePercentage(
  price: PercentagePrice,
  { events, base, raisedBy, loweredBy }: ChargedEvents,
): RatedAmount {
  const steps: TraceStep[] = [step('rate', base, parseDecimal(price.rate))];
  if (price.fixedAmountMinor !== 0n) {
    steps.push(step('fixed', rational(events), toRational(price.fixedAmountMinor)));
  }
  if (price.eventMinimumMinor !== null || compare(raisedBy, ZERO) > 0) {
    steps.push(amountStep('event_minimum', raisedBy));
  }
  if (price.eventMaximumMinor !== null) {
    steps.push(amountStep('event_maximum', loweredBy));
  }
  return ratedAmount(steps);
}

/**
 * Returns a function to call with the base amount of each event, in time order. The function returns the part of the
 * amount that is not free; null if the event is wholly free.
 */
function freeQuota(price: PercentagePrice): (base: Rational) => Rational | null {
  const freeAmount = price.freeAmountMinor > 0n ? toRational(price.freeAmountMinor) : null;
  const freeEvents = price.freeEvents > 0n ? price.freeEvents : null;
  let hasQuota = freeAmount !== null || freeEvents !== null;
  let seenEvents = 0n;
  let seenAmount = ZERO;
  return (base) => {
    if (!hasQuota) return base;
    seenEvents += 1n;
    seenAmount = add(seenAmount, base);
    if (freeAmount !== null && compare(seenAmount, freeAmount) > 0) {
      hasQuota = false;
      return subtract(seenAmount, freeAmount);
    }
    const amountIsUsedUp = freeAmount !== null && compare(seenAmount, freeAmount) === 0;
    hasQuota = !amountIsUsedUp && (freeEvents === null || seenEvents < freeEvents);
    return null;
  };
}

function clamp(amount: Rational, minimum: bigint | null, maximum: bigint | null): Rational {
  const raised = minimum === null ? amount : greaterOf(amount, toRational(minimum));
  return maximum === null ? raised : lesserOf(raised, toRational(maximum));
}
