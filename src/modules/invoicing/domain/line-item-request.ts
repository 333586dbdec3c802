import type { Proration } from '../../../core/proration';
import type { Price } from '../../../core/rating';
import type { Period } from '../../../core/time';
import type { BillTerms } from './billed-by';

/** Price as it was at the time of billing. The invoice line stores it. */
export interface BilledPrice {
  readonly priceId: string;
  readonly name: string;
  readonly rating: Price;
  /** Minimum for a full period, in minor units. `maximumMinor` is the maximum for a full period. */
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

export interface ChargeLineRequest {
  readonly kind: 'charge';
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
  readonly isByGroup: boolean;
  readonly period: Period;
  readonly fullPeriod: Period;
  /**
   * Start of the billing period. At this time, the value of a `weighted_sum` is reset to 0, unless the meter is
   * recurring. Within the billing period, the value carries over.
   */
  readonly heldSince: Date;
  /**
   * Proration of the price's minimum, maximum and base fee (the charge for a usage of 0); null: not prorated. The charge
   * for the usage itself is never prorated.
   */
  readonly proration: Proration | null;
  readonly prorationUnit: 'day' | 'second';
  readonly timeZone: string;
  /**
   * Discounts and taxes of the first bill of the period, if that bill has no line for this usage. If nothing was due,
   * and so no invoice was made, these are the terms that the invoice would have had.
   */
  readonly billTerms?: BillTerms;
}

/** Usage that changed after its period was billed. */
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
   * After a change of plans: the proration unit of the new plan version, in which the unused part is counted. Absent:
   * the unit of the credited line.
   */
  readonly unit?: 'day' | 'second';
}

export interface FixedLineRequest {
  readonly kind: 'fixed';
  readonly description: string;
  readonly amountMinor: bigint;
}

export type LineItemRequest =
  ChargeLineRequest | UsageLineRequest | CreditLineRequest | FixedLineRequest;
