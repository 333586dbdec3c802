import { Injectable } from '@nestjs/common';
import { type RedeemedTerms, RedemptionsService } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import { CreditGrantsRepository } from './credit-grants.repository';
import type { BillingFacts, CouponTerms } from './domain/decide-invoice';
import type { InvoiceOrder } from './domain/order';
import { InvoicesRepository } from './invoices.repository';

/** `issue` locks what the invoice will change; `preview` reads alone. */
export type Purpose = 'issue' | 'preview';

/** Reads all that an invoice is made of beside its order: the setup of every use case that makes one. */
@Injectable()
export class BillingFactsService {
  constructor(
    private readonly customers: CustomersService,
    private readonly redemptions: RedemptionsService,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
  ) {}

  /**
   * @param at when the invoice falls due to be made: coupons that run then count
   * @param redeemed coupons that would be redeemed before, for a preview
   */
  async load(
    order: Pick<InvoiceOrder, 'subscriptionId' | 'lines'>,
    customer: Customer,
    at: Date,
    purpose: Purpose,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<BillingFacts> {
    const credits = order.lines.filter((line) => line.kind === 'credit');
    const [first] = credits;
    const locks = purpose === 'issue';
    const billed =
      first === undefined
        ? []
        : await this.invoices.billedInAdvance(
            credits.map(({ itemId }) => itemId),
            first.unusedFrom,
            locks,
          );
    const running =
      order.subscriptionId === null
        ? []
        : await this.redemptions.runningRedemptions(order.subscriptionId, at);
    const rates = await this.customers.taxRatesOf(customer);
    const grants = await this.grants.open(customer.id, locks);
    return {
      billed,
      coupons: [...running, ...redeemed].map(toCouponTerms),
      taxRates: rates.map(({ id, name, percentage, inclusive }) => ({
        taxRateId: id,
        name,
        percentage,
        inclusive,
      })),
      taxTreatment: customer.taxExempt,
      creditGrants: grants.map(({ id, createdAt, remaining, currency }) => ({
        creditId: id,
        createdAt,
        remainingMinor: remaining,
        currency,
      })),
    };
  }
}

function toCouponTerms({ redemption, coupon }: RedeemedTerms): CouponTerms {
  return {
    redemptionId: redemption.id,
    redeemedAt: redemption.redeemedAt,
    duration: coupon.duration,
    percentOff: coupon.percentOff,
    amountOffMinor:
      coupon.percentOff === null ? (redemption.remainingAmount ?? coupon.amountOff ?? 0n) : null,
  };
}
