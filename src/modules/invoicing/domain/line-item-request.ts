import type { Proration } from '../../../core/proration';
import type { Price } from '../../../core/rating';
import type { Period } from '../../../core/time';
import type { BillTerms } from './billed-by';

/** Price as it was at the time of billing. The invoice line stores it. */
export interface BilledPrice {
  readonly priceId: string;
  readonly name: string;
  readonly rating: Price;
  /** Minimum for a full period, in minor units; null: none. `maximumMinor` likewise. */
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
   * Start of the billing period. A `weighted_sum` meter averages a level over time. The level starts at 0 at this
   * instant, unless the meter is recurring: then it continues from the period before.
   */
  readonly heldSince: Date;
  /**
   * Proration of the price's minimum, maximum and base fee (the charge for a usage of 0); null: not prorated. The
   * charge for the usage itself is never prorated.
   */
  readonly proration: Proration | null;
  readonly prorationUnit: 'day' | 'second';
  readonly timeZone: string;
  /**
   * Discounts and taxes of the first bill of the period. Present only if that bill has no line for this usage. If
   * nothing was due and no invoice was made, these are the discounts and taxes that it would have had.
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
   * `border` if another charge follows at `unusedFrom`, `termination` if the subscription ends. Do not rename these
   * values: drafts store them.
   */
  readonly end: 'border' | 'termination';
  /**
   * Unit in which the unused part is counted. Present after a change of plans: the proration unit of the new plan
   * version. Absent: the unit of the credited line.
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
