import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { invariant } from '../../core/invariant';
import { type RedeemedTerms, RedemptionsService } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import type { TaxRate } from '../tax-rates';
import { CreditGrantsRepository } from './credit-grants.repository';
import { toCreditGrant } from './domain/credit-grant';
import type { BillingFacts, CouponTerms, TaxRateTerms } from './domain/decide-invoice';
import type { Invoice } from './domain/invoice';
import type { CreditOrder } from './domain/line-order';
import type { InvoiceOrder } from './domain/order';
import { InvoicesRepository } from './invoices.repository';
import { UsageReadingsService } from './usage-readings.service';

/** `issue` locks what the invoice will change; `preview` reads alone. */
export type Purpose = 'issue' | 'preview';

/** What billing facts are read for. */
export type FactsOrder = Pick<InvoiceOrder, 'customerId' | 'subscriptionId' | 'lines'>;

/** Reads all that invoices are made of beside their orders: the setup of every use case that makes some. */
@Injectable()
export class BillingFactsService {
  constructor(
    private readonly customers: CustomersService,
    private readonly redemptions: RedemptionsService,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly usage: UsageReadingsService,
  ) {}

  /** The facts of one order. As `loadAll`. */
  async load(
    order: FactsOrder,
    customer: Customer,
    at: Date,
    purpose: Purpose,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<BillingFacts> {
    const factsOf = await this.loadAll([order], [customer], at, purpose);
    const facts = factsOf(order);
    return { ...facts, coupons: [...facts.coupons, ...redeemed.map(toCouponTerms)] };
  }

  /**
   * Reads the facts of many orders, each kind with one statement; what is returned gives them for each order. Credit is as
   * it was before any of them.
   * @param customers of the orders
   * @param at when the invoices fall due to be made: coupons that run then count
   */
  async loadAll(
    orders: readonly FactsOrder[],
    customers: readonly Customer[],
    at: Date,
    purpose: Purpose,
  ): Promise<(order: FactsOrder) => BillingFacts> {
    const locks = purpose === 'issue';
    const credits = orders.flatMap(creditsOf);
    const subscriptionIds = orders.flatMap(({ subscriptionId }) => subscriptionId ?? []);
    const customerIds = customers.map(({ id }) => id);
    const billed = groupBy(
      await this.invoices.billedInAdvance(credits, locks),
      ({ itemId }) => itemId,
    );
    const running = await this.redemptions.runningRedemptions(subscriptionIds, at);
    const rates = await this.customers.taxRatesOf(customers);
    const usage = await this.usage.loadAll(orders, locks);
    const grants = groupBy(
      await this.grants.open(customerIds, locks),
      ({ customerId }) => customerId,
    );
    const byId = new Map(customers.map((customer) => [customer.id, customer]));
    return (order) => {
      const { customerId, subscriptionId } = order;
      const customer = byId.get(customerId);
      invariant(customer !== undefined, `The customer ${customerId} was read.`);
      const itemIds = new Set(creditsOf(order).map(({ itemId }) => itemId));
      return {
        usage: usage.get(order) ?? [],
        billed: [...itemIds].flatMap((itemId) => billed.get(itemId) ?? []),
        coupons:
          subscriptionId === null ? [] : (running.get(subscriptionId) ?? []).map(toCouponTerms),
        taxRates: (rates.get(customerId) ?? []).map(toTaxRateTerms),
        taxTreatment: customer.taxExempt,
        testClockId: customer.testClockId,
        creditGrants: (grants.get(customerId) ?? []).map(toCreditGrant),
      };
    };
  }

  /**
   * The same for drafts that waited, each ordered as it was: their coupons are those that ran when they were made, for what
   * other invoices left of them.
   */
  async loadForDrafts<Order extends FactsOrder & { readonly draft: Invoice }>(
    orders: readonly Order[],
    customers: readonly Customer[],
    at: Date,
  ): Promise<(order: Order) => BillingFacts> {
    const factsOf = await this.loadAll(orders, customers, at, 'issue');
    const left = await this.redemptions.leftOf(
      orders.flatMap(({ draft }) => draft.coupons.map(({ redemptionId }) => redemptionId)),
    );
    return (order) => ({
      ...factsOf(order),
      coupons: order.draft.coupons
        .flatMap(({ redemptionId }) => left.get(redemptionId) ?? [])
        .map(toCouponTerms),
    });
  }
}

function creditsOf({ lines }: FactsOrder): readonly CreditOrder[] {
  return lines.filter((line) => line.kind === 'credit');
}

function toTaxRateTerms({ id, name, percentage, inclusive }: TaxRate): TaxRateTerms {
  return { taxRateId: id, name, percentage, inclusive };
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
