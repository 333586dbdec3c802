import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { changedAt } from '../../core/next-version';
import { type Customer, CustomersService } from '../customers';
import { SubscriptionBalancesService } from '../entitlements';
import { BillingContextService, type Invoice, InvoicesService } from '../invoicing';
import { type Subscription, SubscriptionsRepository } from '../subscriptions';
import { TestClocksService } from '../test-clocks';

/** A locked customer, with its current time: the time of its test clock, or real time if it has none. */
export interface CustomerAt {
  readonly customer: Customer;
  readonly now: Date;
}

export interface LockedInvoice extends CustomerAt {
  readonly subscription: Subscription | null;
  readonly invoice: Invoice;
}

/**
 * Locks a customer, a subscription and an invoice until the caller's transaction ends. To avoid deadlocks, all
 * workflows lock in this order. They lock payments, refunds and ledger balances after the invoice.
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
   * Locks the customer that an object belongs to, even if the customer is deleted. The caller has already read the
   * object. Returns null if the customer and the object were purged with their test clock since then.
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

  /** Locks and returns the subscription of an invoice. Returns null if the invoice has none (`id` is null). */
  async lockSubscription(id: string | null): Promise<Subscription | null> {
    if (id === null) return null;
    const subscription = await this.subscriptions.lock(id);
    invariant(subscription !== null, `The subscription ${id} exists.`);
    return subscription;
  }

  /**
   * Locks the customer and the subscription of an invoice, then the invoice. Returns null if there is no such invoice.
   * The returned time is never before the last change of the subscription or of the invoice ({@link changedAt}). Such a
   * change can be later than the clock of this process, because a process with a faster clock may have made it.
   * @throws {ProblemError} `test_clock_not_found`, `test_clock_advancing`, `test_clock_failed`
   */
  async lockInvoice(id: string): Promise<LockedInvoice | null> {
    // Read without a lock, because the customer and the subscription of an invoice never change.
    const found = await this.invoices.find(id);
    const owner = found === null ? null : await this.lockCustomer(found.customerId);
    if (found === null || owner === null) return null;
    const subscription = await this.lockSubscription(found.subscriptionId);
    const invoice = await this.invoices.lock(id);
    if (invoice === null) return null;
    return { ...owner, now: changedAt(owner.now, subscription, invoice), subscription, invoice };
  }

  /**
   * Locks the usage, the credit and the access version of the customers of these subscriptions. (A new access version
   * makes cached entitlement balances outdated.) The caller has locked the subscriptions.
   *
   * Call this before making several invoices in one transaction, to prevent a deadlock. As soon as the first invoice
   * has its number, all other transactions wait for the next number. From then on, this transaction must not wait for a
   * lock that another transaction holds.
   */
  async lockBeforeInvoices(subscriptions: readonly Subscription[]): Promise<void> {
    await this.balances.lock(subscriptions);
    await this.contexts.lockUsageAndCredit({
      events: await this.balances.usageOf(subscriptions),
      customerIds: subscriptions.map(({ customerId }) => customerId),
    });
  }
}
