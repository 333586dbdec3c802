import type { Price } from '../../../core/rating';
import type { InvoiceLine } from './invoice';
import type { ChargeOrder, UsageOrder } from './line-order';

/** A line before discounts and tax. */
export type LineDraft = Pick<
  InvoiceLine,
  | 'id'
  | 'kind'
  | 'description'
  | 'quantity'
  | 'unitAmount'
  | 'amount'
  | 'priceId'
  | 'itemId'
  | 'period'
  | 'fullPeriod'
  | 'proration'
  | 'prorationUnit'
  | 'timeZone'
  | 'isInAdvance'
  | 'creditsLineId'
  | 'trace'
>;

type SoldLike = Pick<
  LineDraft,
  | 'priceId'
  | 'itemId'
  | 'period'
  | 'fullPeriod'
  | 'proration'
  | 'prorationUnit'
  | 'timeZone'
  | 'isInAdvance'
  | 'creditsLineId'
>;

/** Returns the fields that a line copies from its order. */
export function soldLike(order: ChargeOrder | UsageOrder): SoldLike {
  return {
    priceId: order.price.priceId,
    itemId: order.itemId,
    period: order.period,
    fullPeriod: order.fullPeriod,
    // Usage is never prorated: the part of a period is for its limits and for a fee at zero usage, whose line has it.
    proration: order.kind === 'usage' ? null : order.proration,
    prorationUnit: order.prorationUnit,
    timeZone: order.timeZone,
    isInAdvance: order.kind === 'charge' && order.isInAdvance,
    creditsLineId: null,
  };
}

/** Returns the amount for one unit or package; the whole amount of a flat price; null with tiers. */
export function unitAmountOf(price: Price): string | null {
  switch (price.model) {
    case 'flat':
      return price.amountMinor.toString();
    case 'per_unit':
    case 'package':
      return price.unitAmount;
    case 'graduated':
    case 'volume':
    case 'percentage':
      return null;
  }
}
