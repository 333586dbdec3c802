import {
  compare,
  formatDecimal,
  formatExact,
  parseExact,
  type Rational,
} from '../../../core/decimal';
import { ZERO } from '../../../core/decimal';
import type { Proration } from '../../../core/proration';
import {
  rate,
  roundAtLine,
  trueUp,
  type ChargedEvents,
  type Price,
  type TraceStep,
} from '../../../core/rating';
import type { Period } from '../../../core/time';

/** Decimals of a quantity that is shown; the trace keeps it exactly. */
const SHOWN_DIGITS = 12;

/** The texts of the properties by which a meter tells usage apart; null where an event lacks one. */
export type UsageGroup = readonly (string | null)[];

/** What a meter counts, as it was when usage was billed. */
export interface MeterTerms {
  readonly id: string;
  readonly key: string;
  readonly eventName: string;
  readonly aggregation: string;
  readonly valueProperty: string | null;
  readonly filters: readonly { readonly property: string; readonly in: readonly string[] }[];
  readonly groupBy: readonly string[];
}

/** The usage that one line bills: of one group, or of all together. */
export interface UsagePart {
  /** Null: all groups together. */
  readonly group: UsageGroup | null;
  readonly quantity: Rational;
  readonly events: bigint;
  /** What a percentage price charges for the events; null for other models. */
  readonly charged: ChargedEvents | null;
}

/** What was counted for an item in a period, and up to where. */
export interface UsageReading {
  readonly meter: MeterTerms;
  /** The first instant whose events move it: before the period, where values are held over. */
  readonly countedFrom: Date;
  /** Place in the customer's stream of events up to which they were counted, voids included. */
  readonly upToPosition: bigint;
  readonly parts: readonly UsagePart[];
}

/** What the period of an item was billed so far: usage, minimum and maximum. */
export interface BilledUsage {
  readonly amountMinor: bigint;
  /** Of that, what was neither discounted nor taken back nor void. */
  readonly heldMinor: bigint;
  /** The quantity that was billed last, all groups added up, as exact text. */
  readonly quantity: string;
}

/** A part as a trace keeps it: texts that lose nothing. */
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
  /** The price as it was. */
  readonly price: Price;
  readonly meter: MeterTerms;
  readonly isByGroup: boolean;
  /** With the meter, what names the events that were counted. */
  readonly period: Period;
  /** The first instant whose events moved it: before the period, where values are held over. */
  readonly countedFrom: Date;
  readonly upToPosition: bigint;
  readonly parts: readonly TracedPart[];
  /** The limits of the price; true-ups are lines of their own, but for usage that came late. */
  readonly limits: UsageLimits;
  /** What the period was billed before, where usage came late to it. Null for its first bill. */
  readonly corrects: BilledUsage | null;
}

export interface UsageLimits {
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
  /** What of the full period they are for; null: all of it. */
  readonly proration: Proration | null;
}

/** A part rated: its amount in minor units, rounded once, and how it comes about. */
export function ratePart(
  price: Price,
  part: UsagePart,
): { readonly amountMinor: bigint; readonly traced: TracedPart } {
  const { group, quantity, events, charged } = part;
  const rated = rate(
    price,
    charged === null ? { kind: 'quantity', quantity } : { kind: 'charged', charged },
  );
  return {
    amountMinor: roundAtLine(rated.amount, null),
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

/** The part that a trace keeps. */
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

/** The amount of a line for usage, from its trace alone. */
export function evaluateUsage({ price, parts, limits, corrects }: UsageTrace): bigint {
  const ratedMinor = parts.reduce(
    (total, traced) => total + ratePart(price, partOf(traced)).amountMinor,
    0n,
  );
  return corrects === null ? ratedMinor : correctionOf(ratedMinor, limits, corrects);
}

/**
 * What is still to be billed for a period: its usage rated anew, within its limits, less what was billed. What is given
 * back is never more than the lines of the period still hold.
 */
export function correctionOf(
  ratedMinor: bigint,
  limits: UsageLimits,
  billed: Pick<BilledUsage, 'amountMinor' | 'heldMinor'>,
): bigint {
  const trueUpMinor = trueUp(ratedMinor, limits, limits.proration)?.amountMinor ?? 0n;
  const differenceMinor = ratedMinor + trueUpMinor - billed.amountMinor;
  return differenceMinor < -billed.heldMinor ? -billed.heldMinor : differenceMinor;
}

/** Whether there is nothing to say of a part: nothing was counted, and nothing is due for that. */
export function isNothing(part: UsagePart, amountMinor: bigint): boolean {
  return amountMinor === 0n && compare(part.quantity, ZERO) === 0;
}

/** A quantity as invoices show it. */
export function shownQuantity(quantity: Rational): string {
  return formatDecimal(quantity, SHOWN_DIGITS);
}

/** A group as invoices name it. */
export function nameOfGroup(group: UsageGroup): string {
  return group.map((text) => text ?? '–').join(', ');
}
