import type { Proration } from '../../../core/proration';
import type { Price } from '../../../core/rating';
import type { Period } from '../../../core/time';
import type { BillTerms } from './billed-by';

/** A price as it is billed; it is kept on the line. */
export interface BilledPrice {
  readonly priceId: string;
  readonly name: string;
  readonly rating: Price;
  /** For a full period, in minor units. */
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

/** A price for a quantity over a period, or over a part of one. */
export interface ChargeOrder {
  readonly kind: 'charge';
  /** True if a change within the period causes this charge, for the rest of the period. */
  readonly isProration: boolean;
  readonly itemId: string;
  readonly price: BilledPrice;
  readonly quantity: string;
  readonly period: Period;
  readonly fullPeriod: Period;
  readonly proration: Proration | null;
  readonly prorationUnit: 'day' | 'second';
  readonly timeZone: string;
  readonly isInAdvance: boolean;
}

/** The usage of an item in a period: of the item's own span, where it held for a part of one. */
export interface UsageOrder {
  readonly kind: 'usage';
  readonly itemId: string;
  readonly price: BilledPrice;
  readonly meterId: string;
  /** True if each group of the meter is priced on its own. */
  readonly isByGroup: boolean;
  readonly period: Period;
  readonly fullPeriod: Period;
  /** The start of the billing period, in which a `weighted_sum` begins with nothing and holds on from part to part. */
  readonly heldSince: Date;
  /** Proration of the price's limits and of its fee at zero usage. Usage itself is never prorated. */
  readonly proration: Proration | null;
  readonly prorationUnit: 'day' | 'second';
  readonly timeZone: string;
  /** Kept with the bill of a period that had no line: the terms of its invoice, or of the one that would have had it. */
  readonly billTerms?: BillTerms;
}

/** A billed period of a subscription whose usage changed since. */
export interface LateUsageOrder {
  readonly subscriptionId: string;
  readonly order: UsageOrder;
}

/** The unused part of whatever an item was billed in advance beyond an instant. */
export interface CreditOrder {
  readonly kind: 'credit';
  readonly itemId: string;
  readonly unusedFrom: Date;
  /** `boundary` if another charge starts at `unusedFrom`, `termination` if the subscription ends there. */
  readonly end: 'boundary' | 'termination';
}

/** An amount that the caller sets. */
export interface FixedOrder {
  readonly kind: 'fixed';
  readonly description: string;
  readonly amountMinor: bigint;
}

export type LineOrder = ChargeOrder | UsageOrder | CreditOrder | FixedOrder;
