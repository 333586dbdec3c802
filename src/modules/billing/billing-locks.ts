import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { type Customer, CustomersService } from '../customers';
import { SubscriptionBalancesService } from '../entitlements';
import { BillingContextService, type Invoice, InvoicesService } from '../invoicing';
import { type Subscription, SubscriptionsRepository } from '../subscriptions';
import { TestClocksService } from '../test-clocks';

/** A locked customer, with the current time of its test clock, or real time if it has none. */
export interface CustomerAt {
  readonly customer: Customer;
  readonly now: Date;
}

/** A locked invoice, with the customer and the subscription that were locked before it. */
export interface LockedInvoice extends CustomerAt {
  readonly subscription: Subscription | null;
  readonly invoice: Invoice;
}

/**
 * Locks the objects of a workflow until the caller's transaction ends, always in the same order: customer,
 * subscription, invoice. Payments, refunds and ledger balances are locked after the invoice.
 */
@Injectable()
export class BillingLocks {
  constructor(
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly invoices: InvoicesService,
    private readonly balances: SubscriptionBalancesService,
    private readonly contexts: BillingContextService,
  ) {}

  /**
   * Locks the customer of an object that the caller has read, even if the customer is deleted. Returns null if the
   * customer and the object were purged after the caller read the object.
   * @throws {ProblemError} `test_clock_not_found`, `test_clock_advancing`, `test_clock_failed`
   */
  async lockCustomer(id: string): Promise<CustomerAt | null> {
    const customer = await this.customers.lockForHistory(id);
    if (customer === null) return null;
    return { customer, now: await this.testClocks.nowFor(customer.testClockId) };
  }

  /**
   * Locks the customer that a field of a request refers to.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`, `test_clock_advancing`, `test_clock_failed`
   */
  async lockReferredCustomer(id: string, pointer: string): Promise<CustomerAt> {
    const customer = await this.customers.requireForReference(id, pointer);
    return { customer, now: await this.testClocks.nowFor(customer.testClockId) };
  }

  /** Locks and returns the subscription of an invoice; null if the invoice has none. */
  async lockSubscription(id: string | null): Promise<Subscription | null> {
    if (id === null) return null;
    const subscription = await this.subscriptions.lock(id);
    invariant(subscription !== null, `The subscription ${id} exists.`);
    return subscription;
  }

  /**
   * Locks an invoice after its customer and its subscription. Returns null if there is no such invoice.
   * @throws {ProblemError} `test_clock_not_found`, `test_clock_advancing`, `test_clock_failed`
   */
  async lockInvoice(id: string): Promise<LockedInvoice | null> {
    // Read without a lock, because the customer and the subscription of an invoice never change.
    const found = await this.invoices.find(id);
    const owner = found === null ? null : await this.lockCustomer(found.customerId);
    if (found === null || owner === null) return null;
    const subscription = await this.lockSubscription(found.subscriptionId);
    const invoice = await this.invoices.lock(id);
    return invoice === null ? null : { ...owner, subscription, invoice };
  }

  /**
   * Locks the usage and the credit of the customers of these subscriptions, and the access version (the number that
   * makes cached entitlement balances outdated). The caller has locked the subscriptions. Call this method before
   * making several invoices, to prevent a deadlock: after the first invoice has its number, all other transactions wait
   * for the next number, so this transaction must not wait for a lock that one of them holds.
   */
  async lockBeforeInvoices(subscriptions: readonly Subscription[]): Promise<void> {
    await this.balances.lock(subscriptions);
    await this.contexts.lockUsageAndCredit(subscriptions.map(({ customerId }) => customerId));
  }
}
