import { Injectable } from '@nestjs/common';
import { Database, type VersionCondition } from '../../../platform/database';
import { type Customer, CustomersService } from '../../customers';
import { InvoiceCollectionService } from '../../invoicing';
import {
  type AttachedPaymentMethod,
  AttachMethodsService,
  type NewPaymentMethod,
  type PaymentMethod,
  PaymentMethodsService,
} from '../../payments';
import { SubscriptionsRepository } from '../../subscriptions';
import { SubscriptionStatusWorkflow } from '../subscriptions/subscription-status.workflow';

/**
 * Stores payment methods. When a customer gets another default method, plans to charge the open invoices again.
 *
 * 1. Attaches a new method at its provider, outside any transaction, if the provider stores payment methods.
 * 2. Claims the idempotency key, locks the customer, writes the payment method, and sets or clears it as the default.
 * 3. If the method became the default: plans to charge the open invoices of the customer now, and makes unpaid
 *    subscriptions past due again. `DueCollections` makes the charges.
 */
@Injectable()
export class SavePaymentMethodWorkflow {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly attachMethods: AttachMethodsService,
    private readonly methods: PaymentMethodsService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly status: SubscriptionStatusWorkflow,
    private readonly collection: InvoiceCollectionService,
  ) {}

  /**
   * @throws {ProblemError} `customer_not_found`, `payment_provider_not_enabled`, `payment_method_not_accepted`,
   *   `test_clock_not_chargeable`, `payment_provider_unavailable`
   */
  async create(customerId: string, details: NewPaymentMethod): Promise<PaymentMethod> {
    return this.store(customerId, await this.attachMethods.attach(customerId, details));
  }

  /**
   * Stores a method that is already attached at its provider. Joins the caller's transaction, if there is one.
   * @throws {ProblemError} `customer_not_found`, `payment_provider_not_enabled`, `payment_method_not_accepted`
   */
  store(customerId: string, attached: AttachedPaymentMethod): Promise<PaymentMethod> {
    return this.database.transaction(async () => {
      const method = await this.methods.create(customerId, attached);
      const customer = await this.customers.lockForChange(customerId);
      if (method.isDefault) await this.planChargesNow(customer);
      return method;
    });
  }

  /**
   * Sets or clears a payment method as the default of its customer. A no-op writes nothing and records no event.
   * @param isDefault undefined: no change
   * @throws {ProblemError} `customer_not_found`, `payment_method_not_found`, `precondition_failed`
   */
  update(
    customerId: string,
    id: string,
    isDefault: boolean | undefined,
    expected: VersionCondition,
  ): Promise<PaymentMethod> {
    return this.database.transaction(async () => {
      const customer = await this.customers.lockForChange(customerId);
      const { before, after } = await this.methods.update(customerId, id, isDefault, expected);
      if (after.isDefault && !before.isDefault) await this.planChargesNow(customer);
      return after;
    });
  }

  private async planChargesNow(customer: Customer): Promise<void> {
    const { id } = customer;
    const now = await this.customers.currentTimeOf(customer);
    const subscriptions = await this.subscriptions.lockRetriedOf(id);
    // Comes first, because invoices must be locked before the access version of the customer, which a new status
    // changes. (The access version is the number that makes cached entitlement balances outdated.)
    await this.collection.planChargesNow(id, now);
    await this.status.applyToAll(subscriptions, 'retried', now);
  }
}
