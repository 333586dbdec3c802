import type { Price } from '../../../core/rating';
import type { InvoiceLine } from './invoice';
import type { ChargeLineRequest, UsageLineRequest } from './line-item-request';

/** Invoice line before its discounts and taxes are calculated. */
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

type RequestedFields = Pick<
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

export function requestedFieldsOf(request: ChargeLineRequest | UsageLineRequest): RequestedFields {
  return {
    priceId: request.price.priceId,
    itemId: request.itemId,
    period: request.period,
    fullPeriod: request.fullPeriod,
    // Usage is not prorated. The proration in its request applies to the minimum and maximum of the price, and to
    // a fee at zero usage. `usageLines` sets the proration on a line for such a fee.
    proration: request.kind === 'usage' ? null : request.proration,
    prorationUnit: request.prorationUnit,
    timeZone: request.timeZone,
    isInAdvance: request.kind === 'charge' && request.isInAdvance,
    creditsLineId: null,
  };
}

/**
 * Returns the amount for one unit or package, or the whole amount of a flat price. Null for tiered and percentage
 * prices.
 */
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
