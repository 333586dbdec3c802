import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { invariant } from '../../core/invariant';
import { countsFrom, isUsedUp, type RedeemedTerms, RedemptionsService } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import { CatalogService } from '../catalog';
import type { TaxRate } from '../tax-rates';
import { BilledLinesRepository } from './billed-lines.repository';
import { CreditGrantsRepository } from './credit-grants.repository';
import { toCreditGrant } from './domain/credit-grant';
import type { CouponFacts } from './domain/decide-coupons';
import type { BillingFacts, TaxRateTerms } from './domain/decide-invoice';
import type { BilledLine } from './domain/held-lines';
import type { Invoice } from './domain/invoice';
import type { CreditOrder } from './domain/line-order';
import type { InvoiceOrder } from './domain/order';
import { UsageReadingsService } from './usage-readings.service';

/** `issue` locks what the invoice will change; `preview` reads alone. */
export type Purpose = 'issue' | 'preview';

/** Purpose for which a billing context is read. */
export type FactsOrder = Pick<
  InvoiceOrder,
  'customerId' | 'subscriptionId' | 'billingPeriod' | 'lines' | 'lateUsage'
> & {
  /** Credits that are made anew, beside the lines. */
  readonly creditOrders?: readonly CreditOrder[];
};

/** Reads all that invoices are made of beside their orders: the setup of every use case that makes some. */
@Injectable()
export class BillingFactsService {
  constructor(
    private readonly customers: CustomersService,
    private readonly redemptions: RedemptionsService,
    private readonly billed: BilledLinesRepository,
    private readonly catalog: CatalogService,
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
    const added = await this.couponFacts(redeemed, new Map());
    return { ...facts, coupons: [...facts.coupons, ...added] };
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
    const customerIds = customers.map(({ id }) => id);
    const billed = groupBy(await this.billed.inAdvance(credits, locks), ({ itemId }) => itemId);
    const rates = await this.customers.taxRatesOf(customers);
    const usage = await this.usage.loadAll(orders, locks);
    const grants = groupBy(
      await this.grants.open(customerIds, locks),
      ({ customerId }) => customerId,
    );
    const billedFor = (order: FactsOrder): readonly BilledLine[] => {
      const itemIds = new Set(creditsOf(order).map(({ itemId }) => itemId));
      return [...itemIds].flatMap((itemId) => billed.get(itemId) ?? []);
    };
    const couponsOf = await this.loadCoupons(
      orders.map((order) => ({
        order,
        corrected: [
          ...billedFor(order),
          ...(usage.get(order) ?? []).flatMap((one) => one.billed?.lines ?? []),
        ],
      })),
      at,
    );
    const byId = new Map(customers.map((customer) => [customer.id, customer]));
    return (order) => {
      const { customerId, billingPeriod } = order;
      const customer = byId.get(customerId);
      invariant(customer !== undefined, `The customer ${customerId} was read.`);
      return {
        usage: usage.get(order) ?? [],
        billed: billedFor(order),
        coupons: couponsOf(order),
        billingPeriod,
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
    const ofDrafts = new Map<Order, readonly CouponFacts[]>();
    const taken = await this.takenIn(orders);
    for (const order of orders) {
      const { coupons } = order.draft;
      const terms = coupons.flatMap(({ redemptionId }) => left.get(redemptionId) ?? []);
      ofDrafts.set(order, await this.couponFacts(terms, taken));
    }
    return (order) => ({ ...factsOf(order), coupons: ofDrafts.get(order) ?? [] });
  }

  /** The coupons that run for each order, and those that lines it may credit were discounted by. */
  private async loadCoupons(
    orders: readonly {
      readonly order: FactsOrder;
      readonly corrected: readonly BilledLine[];
    }[],
    at: Date,
  ): Promise<(order: FactsOrder) => readonly CouponFacts[]> {
    const subscriptionIds = orders.flatMap(({ order }) => order.subscriptionId ?? []);
    const running = await this.redemptions.runningRedemptions(subscriptionIds, at);
    const discountedBy = orders.flatMap(({ corrected }) => redemptionIdsOf(corrected));
    const usedUp = await this.redemptions.usedUpOf(discountedBy);
    const taken = await this.takenIn(
      orders
        .map(({ order }) => order)
        .filter(({ subscriptionId }) => running.get(subscriptionId ?? '')?.some(takesEachPeriod)),
    );
    const found = new Map<FactsOrder, readonly CouponFacts[]>();
    for (const { order, corrected } of orders) {
      const { subscriptionId, billingPeriod } = order;
      if (subscriptionId === null) continue;
      const terms = (running.get(subscriptionId) ?? []).filter(
        ({ redemption }) => billingPeriod === null || countsFrom(redemption, billingPeriod.startAt),
      );
      const again = redemptionIdsOf(corrected).flatMap((id) => usedUp.get(id) ?? []);
      const inOrder = [...again, ...terms].sort((one, other) =>
        one.redemption.id < other.redemption.id ? -1 : 1,
      );
      found.set(order, await this.couponFacts(inOrder, taken));
    }
    return (order) => found.get(order) ?? [];
  }

  private takenIn(orders: readonly FactsOrder[]): Promise<ReadonlyMap<string, bigint>> {
    return this.billed.discountsTaken(
      orders.flatMap(({ subscriptionId, billingPeriod: period }) =>
        subscriptionId === null || period === null ? [] : [{ subscriptionId, period }],
      ),
    );
  }

  private async couponFacts(
    terms: readonly RedeemedTerms[],
    taken: ReadonlyMap<string, bigint>,
  ): Promise<readonly CouponFacts[]> {
    const planIds = new Set(terms.flatMap(({ coupon }) => coupon.planIds));
    const pricesOf = await this.catalog.getPriceIdsOfPlans([...planIds]);
    return terms.map(({ redemption, coupon }) => ({
      redemptionId: redemption.id,
      redeemedAt: redemption.redeemedAt,
      duration: coupon.duration,
      percentOff: coupon.percentOff,
      amountOffMinor: coupon.amountOff,
      remainingMinor: redemption.remainingAmount,
      takenMinor: taken.get(redemption.id) ?? 0n,
      isUsedUp: isUsedUp({ redemption, coupon }),
      months: coupon.durationInMonths,
      endsAt: redemption.endsAt,
      priceIds:
        coupon.planIds.length === 0
          ? null
          : new Set(coupon.planIds.flatMap((planId) => pricesOf.get(planId) ?? [])),
    }));
  }
}

/** The redemptions that discounted lines. */
function redemptionIdsOf(lines: readonly BilledLine[]): readonly string[] {
  return [
    ...new Set(
      lines.flatMap(({ discountShares }) => discountShares.map(({ redemptionId }) => redemptionId)),
    ),
  ];
}

function takesEachPeriod({ coupon }: RedeemedTerms): boolean {
  return coupon.duration !== 'once' && coupon.amountOff !== null;
}

function creditsOf({ lines, creditOrders = [] }: FactsOrder): readonly CreditOrder[] {
  return [...lines.filter((line) => line.kind === 'credit'), ...creditOrders];
}

function toTaxRateTerms({ id, name, percentage, inclusive }: TaxRate): TaxRateTerms {
  return { taxRateId: id, name, percentage, inclusive };
}
