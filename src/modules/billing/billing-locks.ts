import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { type Customer, CustomersService } from '../customers';
import { SubscriptionBalancesService } from '../entitlements';
import { BillingContextService, type Invoice, InvoicesService } from '../invoicing';
import { type Subscription, SubscriptionsRepository } from '../subscriptions';
import { TestClocksService } from '../test-clocks';

/**
 * A locked customer, and the current time of the customer: the time of the customer's test clock, or real time if the
 * customer has no test clock.
 */
export interface CustomerAt {
  readonly customer: Customer;
  readonly now: Date;
}

/** An invoice with its customer and its subscription, all locked. The subscription is null if the invoice has none. */
export interface LockedInvoice extends CustomerAt {
  readonly subscription: Subscription | null;
  readonly invoice: Invoice;
}

/**
 * Locks a customer, a subscription and an invoice until the caller's transaction ends. All workflows lock in this
 * order, so that they do not deadlock. They lock payments, refunds and ledger balances after the invoice.
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
   * Locks the customer of an object that the caller has already read. Also locks a deleted customer. Returns null if
   * the customer was purged meanwhile, together with the object.
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

  /**
   * Locks and returns the subscription of an invoice. Returns null if `id` is null: the invoice has no subscription.
   */
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
   * Locks, for the customers of these subscriptions, the usage, the credit and the access version (the number that
   * makes cached entitlement balances outdated). The caller has locked the subscriptions.
   *
   * Call this method before making several invoices in one transaction, to prevent a deadlock. As soon as the first
   * invoice has its number, all other transactions wait for the next number. From then on, this transaction must not
   * wait for a lock that one of the others holds.
   */
  async lockBeforeInvoices(subscriptions: readonly Subscription[]): Promise<void> {
    await this.balances.lock(subscriptions);
    await this.contexts.lockUsageAndCredit(subscriptions.map(({ customerId }) => customerId));
  }
}
