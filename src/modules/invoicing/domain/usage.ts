import {
  compare,
  formatDecimal,
  formatExact,
  MAX_FRACTION_DIGITS,
  parseExact,
  rational,
  roundToInteger,
  sum,
  type Rational,
} from '../../../core/decimal';
import { ZERO } from '../../../core/decimal';
import { creditShare } from '../../../core/invoice';
import type { Proration } from '../../../core/proration';
import {
  exactAtLine,
  rate,
  trueUp,
  type ChargedEvents,
  type Price,
  type TraceStep,
} from '../../../core/rating';
import type { Period } from '../../../core/time';
import type { BilledBy } from './billed-by';
import type { TakenFrom } from './given-back';
import type { HeldDiscount, HeldTerms } from './held-terms';

/** Values of the properties that a meter groups by, as text; null for a property that the events lack. */
export type UsageGroup = readonly (string | null)[];

export interface MeterSnapshot {
  readonly id: string;
  readonly key: string;
  readonly eventName: string;
  readonly aggregation: string;
  readonly valueProperty: string | null;
  readonly filters: readonly { readonly property: string; readonly in: readonly string[] }[];
  readonly groupBy: readonly string[];
}

/** Usage billed by one line: the usage of one group, or of all groups together. */
export interface UsagePart {
  /** Null: all groups together. */
  readonly group: UsageGroup | null;
  readonly quantity: Rational;
  readonly events: bigint;
  /** Charges of a percentage price for the events; null for other models. */
  readonly charged: ChargedEvents | null;
}

export interface ItemUsage {
  readonly meter: MeterSnapshot;
  /** Time from which events are counted. Before the period if values of the meter carry over into it. */
  readonly countedFrom: Date;
  /**
   * Position in the customer's stream of events (the events of one name) up to which events and their voids were
   * counted.
   */
  readonly upToPosition: bigint;
  readonly parts: readonly UsagePart[];
}

/** Amount billed so far for an item and period, including true-ups to the minimum or maximum of the price. */
export interface BilledUsage {
  readonly amountMinor: bigint;
  /** Part of `amountMinor` left after discounts and credits. */
  readonly heldMinor: bigint;
  /** Total quantity of the lines on finalized, non-void invoices, as an exact number in text form. */
  readonly quantity: string;
  /**
   * Amounts left on the billed lines after discounts and credits. Stored only for negative usage corrections, except
   * those of older versions, which were calculated at list prices.
   */
  readonly held?: HeldTerms;
}

/** Amounts billed before a usage correction, and the result of the correction. */
export interface CorrectedUsage extends BilledUsage {
  /**
   * Amount of a negative correction at list prices, that is before discounts. Absent if the correction is positive, or
   * if `held` is absent.
   */
  readonly differenceMinor?: bigint;
  readonly returned?: readonly HeldDiscount[];
  /** Largest amount that the correction may give back. Present only if refunds reduce the correction. */
  readonly mostMinor?: bigint;
  /** Amounts that a negative correction takes from each earlier invoice; absent from older lines. */
  readonly taken?: readonly TakenFrom[];
  /**
   * Discounts and taxes of the first bill of the period, for a positive correction. Absent if that bill is unknown:
   * those of the correcting invoice then apply.
   */
  readonly billedBy?: BilledBy;
}

/** A {@link UsagePart} in the stored form, with exact numbers as text. */
export interface TracedPart {
  readonly group: UsageGroup | null;
  readonly quantity: string;
  readonly events: bigint;
  readonly charged: {
    readonly events: bigint;
    readonly base: string;
    readonly raisedBy: string;
    readonly loweredBy: string;
  } | null;
  readonly steps: readonly TraceStep[];
}

export interface UsageTrace {
  readonly kind: 'usage';
  readonly price: Price;
  readonly meter: MeterSnapshot;
  readonly isByGroup: boolean;
  /** Period of the counted events. The period and the meter together identify the events. */
  readonly period: Period;
  readonly countedFrom: Date;
  readonly upToPosition: bigint;
  readonly parts: readonly TracedPart[];
  /**
   * Minimum and maximum of the price. On the first bill of a period, the true-up to them is a separate line. On a line
   * for late usage, the amount includes the true-up.
   */
  readonly limits: UsageLimits;
  /**
   * Share of the full period for which the fee at zero usage (the flat amount of the first tier) is charged; null: the
   * full period. Absent from lines of older versions, which charged the whole fee.
   */
  readonly zeroUsageProration?: Proration | null;
  /** Amounts billed earlier for the period, if this line bills late usage; null for the first bill. */
  readonly corrects: CorrectedUsage | null;
}

export interface UsageLimits {
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
  /** Share of the full period by which the limits are prorated; null: the full period. */
  readonly proration: Proration | null;
}

/**
 * Returns the share of the full period for which the fee at zero usage (the flat amount of the first tier) is charged;
 * null: the full period. Percentage prices have no such fee: their fixed amounts are charged for events and never
 * prorated, even if the amounts of the events add up to zero.
 */
export function zeroUsageShare(price: Price, proration: Proration | null): Proration | null {
  return price.model === 'percentage' ? null : proration;
}

/**
 * Rates a part of usage. Returns the rounded and the exact amount, both in minor units, and the calculation for the
 * trace. Only a fee at zero usage is prorated by time, not usage itself.
 */
export function ratePart(
  price: Price,
  part: UsagePart,
  zeroUsageProration: Proration | null,
): {
  readonly amountMinor: bigint;
  readonly exact: Rational;
  /** Share of the full period by which the amount is prorated; null: not prorated. */
  readonly proration: Proration | null;
  readonly traced: TracedPart;
} {
  const { group, quantity, events, charged } = part;
  const rated = rate(
    price,
    charged === null ? { kind: 'quantity', quantity } : { kind: 'charged', charged },
  );
  const proration = compare(quantity, ZERO) <= 0 ? zeroUsageProration : null;
  const exact = exactAtLine(rated.amount, proration);
  return {
    amountMinor: roundToInteger(exact),
    exact,
    proration,
    traced: {
      group,
      quantity: formatExact(quantity),
      events,
      charged:
        charged === null
          ? null
          : {
              events: charged.events,
              base: formatExact(charged.base),
              raisedBy: formatExact(charged.raisedBy),
              loweredBy: formatExact(charged.loweredBy),
            },
      steps: rated.steps,
    },
  };
}

export function partOf(traced: TracedPart): UsagePart {
  const { group, quantity, events, charged } = traced;
  return {
    group,
    quantity: parseExact(quantity),
    events,
    charged:
      charged === null
        ? null
        : {
            events: charged.events,
            base: parseExact(charged.base),
            raisedBy: parseExact(charged.raisedBy),
            loweredBy: parseExact(charged.loweredBy),
          },
  };
}

export function evaluateUsage(trace: UsageTrace): bigint {
  const { limits, corrects } = trace;
  const ratedMinor = rateFromTrace(trace);
  return corrects === null ? ratedMinor : correctionOf(ratedMinor, limits, corrects).amountMinor;
}

/**
 * Calculates the amount of a usage line again from its trace, in minor units, before the minimum and maximum of the
 * price.
 */
export function rateFromTrace(trace: UsageTrace): bigint {
  return ratedParts(trace).reduce((total, { amountMinor }) => total + amountMinor, 0n);
}

/** Like {@link rateFromTrace}, but before rounding. */
export function exactUsage(trace: UsageTrace): Rational {
  return sum(ratedParts(trace).map(({ exact }) => exact));
}

function ratedParts({ price, parts, zeroUsageProration = null }: UsageTrace) {
  return parts.map((traced) => ratePart(price, partOf(traced), zeroUsageProration));
}

/**
 * Amounts of a usage correction, in minor units. `returned` are the discounts on usage that was taken back; they go
 * back to their coupons.
 */
export interface Correction {
  /** Amount of the line. If usage is taken back, at most what is left of the billed lines. */
  readonly amountMinor: bigint;
  /** Amount of the correction at list prices. */
  readonly differenceMinor: bigint;
  readonly returned: readonly HeldDiscount[];
}

/**
 * Returns the amount still to be billed for a period: the amount of its usage as counted now, within the minimum and
 * maximum of the price, less the billed amount. A negative result takes back a share of what discounts, credits and
 * refunds have left of the billed lines.
 */
export function correctionOf(
  ratedMinor: bigint,
  limits: UsageLimits,
  billed: Pick<CorrectedUsage, 'amountMinor' | 'heldMinor' | 'held' | 'mostMinor'>,
): Correction {
  const trueUpMinor = trueUp(ratedMinor, limits, limits.proration)?.amountMinor ?? 0n;
  const differenceMinor = ratedMinor + trueUpMinor - billed.amountMinor;
  const { held, heldMinor } = billed;
  if (differenceMinor >= 0n) return { amountMinor: differenceMinor, differenceMinor, returned: [] };
  if (held === undefined) {
    const amountMinor = differenceMinor < -heldMinor ? -heldMinor : differenceMinor;
    return { amountMinor, differenceMinor, returned: [] };
  }
  const share = shareOf(-differenceMinor, held.listedMinor);
  const { amountMinor, discounts } = creditShare(held, share, billed.mostMinor);
  return { amountMinor: -amountMinor, differenceMinor, returned: discounts };
}

function shareOf(partMinor: bigint, wholeMinor: bigint): Rational {
  return partMinor < wholeMinor ? rational(partMinor, wholeMinor) : rational(1n);
}

/** Returns true if a part makes no line: its quantity is 0, and no fee at zero usage is due. */
export function isNothing(part: UsagePart, amountMinor: bigint): boolean {
  return amountMinor === 0n && compare(part.quantity, ZERO) === 0;
}

/** Returns a decimal with at most 18 fraction digits, rounded if needed. The trace keeps the exact quantity. */
export function shownQuantity(quantity: Rational): string {
  return formatDecimal(quantity, MAX_FRACTION_DIGITS);
}

export function nameOfGroup(group: UsageGroup): string {
  return group.map((text) => text ?? '–').join(', ');
}
