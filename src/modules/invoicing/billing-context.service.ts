import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { invariant } from '../../core/invariant';
import type { RedeemedTerms } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import type { TaxRate } from '../tax-rates';
import { BilledLinesRepository } from './billed-lines.repository';
import { CreditGrantsRepository } from './credit-grants.repository';
import { toCreditGrant } from './domain/credit-grant';
import { type CouponRequest, CouponContextsService } from './coupon-contexts.service';
import type { InvoiceRateTerms } from './domain/billed-by';
import type { BillingContext } from './domain/decide-invoice';
import { mostCredited, type RefundedOf } from './domain/given-back';
import type { BilledLine } from './domain/held-lines';
import type { Invoice } from './domain/invoice';
import type { CreditOrder } from './domain/line-order';
import type { InvoiceOrder } from './domain/order';
import { type CorrectingOrder, FirstBillsService } from './first-bills.service';
import { HeldByInvoiceRepository } from './held-by-invoice.repository';
import { UsageReadingsService } from './usage-readings.service';

/** `issue` locks what the invoice will change; `preview` locks nothing. */
export type Purpose = 'issue' | 'preview';

/** Fields of an invoice order that its context depends on. */
export type ContextRequest = Pick<
  InvoiceOrder,
  'customerId' | 'subscriptionId' | 'lines' | 'late' | 'lateUsage' | 'refunded'
> &
  CouponRequest &
  CorrectingOrder['order'] & {
    /** Credits that are calculated again, in addition to the lines. */
    readonly creditOrders?: readonly CreditOrder[];
  };

/** Reads the billing context of invoices. Every use case that makes invoices starts with it. */
@Injectable()
export class BillingContextService {
  constructor(
    private readonly customers: CustomersService,
    private readonly coupons: CouponContextsService,
    private readonly billed: BilledLinesRepository,
    private readonly firstBills: FirstBillsService,
    private readonly grants: CreditGrantsRepository,
    private readonly usage: UsageReadingsService,
    private readonly held: HeldByInvoiceRepository,
  ) {}

  /**
   * Locks the usage streams and the credit of customers until the caller's transaction ends. Call it before making their
   * invoices one after the other in one commit: a transaction that has locked the number series must not wait for one that
   * needs a number.
   */
  async hold(customerIds: readonly string[]): Promise<void> {
    await this.usage.holdAll(customerIds);
    await this.grants.open(customerIds, true);
  }

  /** Reads the context of one order. As `loadAll`. */
  async load(
    order: ContextRequest,
    customer: Customer,
    purpose: Purpose,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<BillingContext> {
    const contextOf = await this.loadAll([order], [customer], purpose);
    const context = contextOf(order);
    const added = await this.coupons.contextsOf(redeemed, new Map());
    return { ...context, coupons: [...context.coupons, ...added] };
  }

  /**
   * Reads the contexts of many orders, each kind of data with one statement. The returned function gives the context of an
   * order. Its credit is that before any of these invoices.
   * @param customers of the orders
   */
  async loadAll(
    orders: readonly ContextRequest[],
    customers: readonly Customer[],
    purpose: Purpose,
  ): Promise<(order: ContextRequest) => BillingContext> {
    const locks = purpose === 'issue';
    const credits = orders.flatMap(creditsOf);
    const customerIds = customers.map(({ id }) => id);
    const billed = groupBy(await this.billed.inAdvance(credits, locks), ({ itemId }) => itemId);
    const creditable = await this.creditableOf(orders);
    const rates = await this.customers.taxRatesOf(customers);
    const usage = await this.usage.loadAll(orders, locks);
    const grants = groupBy(
      await this.grants.open(customerIds, locks),
      ({ customerId }) => customerId,
    );
    const billedFor = (order: ContextRequest): readonly BilledLine[] => {
      const itemIds = new Set(creditsOf(order).map(({ itemId }) => itemId));
      return [...itemIds].flatMap((itemId) => billed.get(itemId) ?? []);
    };
    const corrected = await this.firstBills.load(
      orders.map((order) => ({ order, usage: usage.get(order) ?? [] })),
    );
    const couponsOf = await this.coupons.loadAll(
      orders.map((order) => ({
        order,
        corrected: correctedOf({ billed: billedFor(order), usage: usage.get(order) ?? [] }),
      })),
    );
    const byId = new Map(customers.map((customer) => [customer.id, customer]));
    return (order) => {
      const { customerId, billingPeriod } = order;
      const customer = byId.get(customerId);
      invariant(customer !== undefined, `The customer ${customerId} was read.`);
      return {
        usage: usage.get(order) ?? [],
        billed: billedFor(order),
        creditable,
        coupons: couponsOf(order),
        ...corrected,
        billingPeriod,
        taxRates: (rates.get(customerId) ?? []).map(toTaxRateTerms),
        taxTreatment: customer.taxExempt,
        testClockId: customer.testClockId,
        creditGrants: (grants.get(customerId) ?? []).map(toCreditGrant),
      };
    };
  }

  /**
   * Reads the contexts of waiting drafts. Their coupons are those that ran when the drafts were made, with the amounts that
   * other invoices left.
   */
  async loadForDrafts<Order extends ContextRequest & { readonly draft: Invoice }>(
    orders: readonly Order[],
    customers: readonly Customer[],
  ): Promise<(order: Order) => BillingContext> {
    const contextOf = await this.loadAll(orders, customers, 'issue');
    const couponsOf = await this.coupons.loadForDrafts(
      orders.map((order) => ({ order, corrected: correctedOf(contextOf(order)) })),
    );
    return (order) => ({ ...contextOf(order), coupons: couponsOf(order) });
  }

  /** Returns what credits may give back of invoices that were refunded, in minor units by invoice id. */
  private async creditableOf(
    orders: readonly ContextRequest[],
  ): Promise<ReadonlyMap<string, bigint>> {
    const refunded: RefundedOf = new Map(orders.flatMap((order) => [...(order.refunded ?? [])]));
    const held = await this.held.heldBy([...refunded.keys()]);
    return new Map(
      [...held].map(([id, heldBy]) => [id, mostCredited(heldBy, refunded.get(id) ?? 0n)]),
    );
  }
}

/** Returns the finalized lines that an invoice may credit or correct. */
function correctedOf({
  billed,
  usage,
}: Pick<BillingContext, 'billed' | 'usage'>): readonly BilledLine[] {
  return [...billed, ...usage.flatMap((one) => one.billed?.lines ?? [])];
}

function creditsOf({ lines, creditOrders = [] }: ContextRequest): readonly CreditOrder[] {
  return [...lines.filter((line) => line.kind === 'credit'), ...creditOrders];
}

function toTaxRateTerms({ id, name, percentage, inclusive }: TaxRate): InvoiceRateTerms {
  return { taxRateId: id, name, percentage, inclusive };
}
