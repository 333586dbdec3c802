import type { Proration } from '../../../core/proration';
import type { Price } from '../../../core/rating';
import type { Period } from '../../../core/time';
import type { BillTerms } from './billed-by';

/** Terms of a price at the time of billing. The invoice line stores them. */
export interface BilledPrice {
  readonly priceId: string;
  readonly name: string;
  readonly rating: Price;
  /** Minimum of the price for a full period, in minor units. `maximumMinor` is the maximum for a full period. */
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

/** Bills a quantity at a price, for a period or a part of one. */
export interface ChargeLineRequest {
  readonly kind: 'charge';
  /** True if the charge is for the rest of a period, because of a change within the period. */
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

/** Bills the usage of an item in a period, or in the part of the period that the item covers. */
export interface UsageLineRequest {
  readonly kind: 'usage';
  readonly itemId: string;
  readonly price: BilledPrice;
  readonly meterId: string;
  /** True if each group of the meter is priced on its own. */
  readonly isByGroup: boolean;
  readonly period: Period;
  readonly fullPeriod: Period;
  /**
   * Start of the billing period. At this instant, the value of a `weighted_sum` is set to 0, unless the meter is
   * recurring. Within the billing period, its value carries over.
   */
  readonly heldSince: Date;
  /** Proration of the price's minimum and maximum, and of its fee at zero usage. Usage itself is never prorated. */
  readonly proration: Proration | null;
  readonly prorationUnit: 'day' | 'second';
  readonly timeZone: string;
  /**
   * Discounts and taxes of the first bill of the period, if that bill has no line for this usage. If no invoice was
   * made, because nothing was due, these are the terms that it would have had.
   */
  readonly billTerms?: BillTerms;
}

/** Usage that changed after its period was billed, and the subscription that it belongs to. */
export interface LateUsageRequest {
  readonly subscriptionId: string;
  readonly request: UsageLineRequest;
}

/** Credits the charges that billed an item in advance, for the time after `unusedFrom`. */
export interface CreditLineRequest {
  readonly kind: 'credit';
  readonly itemId: string;
  readonly unusedFrom: Date;
  /**
   * `border` if another charge follows at `unusedFrom`, `termination` if the subscription ends. Drafts store these
   * words.
   */
  readonly end: 'border' | 'termination';
  /**
   * Unit in which the unused part is counted after a change of plans: the proration unit of the new plan version.
   * Absent: the unit of the credited line.
   */
  readonly unit?: 'day' | 'second';
}

/** An amount that the caller sets. */
export interface FixedLineRequest {
  readonly kind: 'fixed';
  readonly description: string;
  readonly amountMinor: bigint;
}

export type LineItemRequest =
  ChargeLineRequest | UsageLineRequest | CreditLineRequest | FixedLineRequest;
