import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { invariant } from '../../core/invariant';
import type { RedeemedTerms } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import { LedgerService } from '../ledger';
import type { UsageToBlock } from '../metering';
import type { TaxRate } from '../tax-rates';
import { BilledLinesRepository } from './billed-lines.repository';
import { CreditGrantsRepository } from './credit-grants.repository';
import { toCreditGrant } from './domain/credit-grant';
import { type CouponRequest, CouponContextsService } from './coupon-contexts.service';
import type { InvoiceRateTerms } from './domain/billed-by';
import type { BillingContext } from './domain/decide-invoice';
import type { BilledLine } from './domain/held-lines';
import type { CreditLineRequest } from './domain/line-item-request';
import type { BillingRequest } from './domain/billing-request';
import { type CorrectingRequest, FirstBillsService } from './first-bills.service';
import { GivenBackService } from './given-back.service';
import { UsageReadingsService } from './usage-readings.service';

/** Fields of a billing request that determine which data its {@link BillingContext} contains. */
export type ContextRequest = Pick<
  BillingRequest,
  'customerId' | 'subscriptionId' | 'lines' | 'late' | 'lateUsage' | 'refunded'
> &
  CouponRequest &
  CorrectingRequest['request'] & {
    /** Only when a void invoice is regenerated: the credits of that invoice, which are calculated again. */
    readonly creditRequests?: readonly CreditLineRequest[];
  };

/** Reads the data that invoices are calculated from: usage, earlier bills, coupons, taxes and credit. */
@Injectable()
export class BillingContextService {
  constructor(
    private readonly customers: CustomersService,
    private readonly coupons: CouponContextsService,
    private readonly billed: BilledLinesRepository,
    private readonly firstBills: FirstBillsService,
    private readonly grants: CreditGrantsRepository,
    private readonly usage: UsageReadingsService,
    private readonly givenBack: GivenBackService,
    private readonly ledger: LedgerService,
  ) {}

  /**
   * Blocks storing and voiding of usage events, and locks the available credit of customers, until the caller's
   * transaction ends. Call it before making several invoices in one transaction. A transaction that has taken an
   * invoice number must not wait for these locks, because their holder may be waiting for an invoice number.
   */
  async lockUsageAndCredit(usage: UsageToBlock): Promise<void> {
    await this.usage.blockNewUsage(usage);
    await this.grants.open(usage.customerIds, true);
  }

  /**
   * Reads the context of one billing request; see {@link loadAll}.
   * @param redeemed for previews: coupons that are applied as if they were redeemed already
   */
  async load(
    request: ContextRequest,
    customer: Customer,
    issuedAt: Date | null,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<BillingContext> {
    const contextOf = await this.loadAll([request], [customer], issuedAt);
    const context = contextOf(request);
    const added = await this.coupons.contextsOf(redeemed, new Map());
    return { ...context, coupons: [...context.coupons, ...added] };
  }

  /**
   * Reads the contexts of many billing requests. Returns a function that maps a request to its context. All contexts of
   * a customer contain the same credit: the credit available before the first invoice uses it.
   * @param customers the customers of all requests
   * @param issuedAt the present time, to lock the data that the invoices will change; null for previews, which lock
   *   nothing
   */
  async loadAll(
    requests: readonly ContextRequest[],
    customers: readonly Customer[],
    issuedAt: Date | null,
  ): Promise<(request: ContextRequest) => BillingContext> {
    const locks = issuedAt !== null;
    const credits = requests.flatMap(creditsOf);
    const customerIds = customers.map(({ id }) => id);
    const billed = groupBy(await this.billed.inAdvance(credits, locks), ({ itemId }) => itemId);
    const creditable = await this.givenBack.creditableOf(requests);
    const rates = await this.customers.taxRatesOf(customers);
    const usage = await this.usage.loadAll(requests, locks);
    const grants = groupBy(
      await this.grants.open(customerIds, locks),
      ({ customerId }) => customerId,
    );
    const billedFor = (request: ContextRequest): readonly BilledLine[] => {
      const itemIds = new Set(creditsOf(request).map(({ itemId }) => itemId));
      return [...itemIds].flatMap((itemId) => billed.get(itemId) ?? []);
    };
    const corrected = await this.firstBills.load(
      requests.map((request) => ({ request, usage: usage.get(request) ?? [] })),
    );
    const corrections = requests.map((request) => ({
      request,
      corrected: correctedOf({ billed: billedFor(request), usage: usage.get(request) ?? [] }),
    }));
    const couponsOf = await this.coupons.loadAll(corrections);
    const correcting = corrections.filter((one) => one.corrected.length > 0);
    const followed = new Set([
      ...grants.keys(),
      ...correcting.map(({ request }) => request.customerId),
    ]);
    const byId = new Map(customers.map((customer) => [customer.id, customer]));
    // All processes read the same test clock.
    const onRealTime = [...followed].filter((id) => byId.get(id)?.testClockId === null);
    const times = issuedAt && (await this.ledger.latestAfter(onRealTime, issuedAt));
    return (request) => {
      const { customerId, billingPeriod } = request;
      const customer = byId.get(customerId);
      invariant(customer !== undefined, `The customer ${customerId} was read.`);
      return {
        usage: usage.get(request) ?? [],
        billed: billedFor(request),
        creditable,
        coupons: couponsOf(request),
        ...corrected,
        billingPeriod,
        taxRates: (rates.get(customerId) ?? []).map(toTaxRateTerms),
        taxTreatment: customer.taxExempt,
        testClockId: customer.testClockId,
        creditGrants: (grants.get(customerId) ?? []).map(toCreditGrant),
        followsAt: times?.get(customerId) ?? null,
      };
    };
  }
}

/** Returns the lines of earlier invoices that a new invoice may credit or correct. */
function correctedOf({
  billed,
  usage,
}: Pick<BillingContext, 'billed' | 'usage'>): readonly BilledLine[] {
  return [...billed, ...usage.flatMap((one) => one.billed?.lines ?? [])];
}

function creditsOf({ lines, creditRequests = [] }: ContextRequest): readonly CreditLineRequest[] {
  return [...lines.filter((line) => line.kind === 'credit'), ...creditRequests];
}

function toTaxRateTerms({ id, name, percentage, inclusive }: TaxRate): InvoiceRateTerms {
  return { taxRateId: id, name, percentage, inclusive };
}
