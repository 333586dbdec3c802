import { Injectable } from '@nestjs/common';
import { changedAt } from '../../../core/next-version';
import { newId } from '../../../platform/ids';
import { ReturnedLeases } from '../../../platform/processes';
import { CustomersService } from '../../customers';
import { type Invoice, InvoiceCollectionService, payableOf, type TimeScope } from '../../invoicing';
import {
  type ChosenMethod,
  AutomaticChargesService,
  methodToCharge,
  type Payment,
  PaymentMethodsService,
  PaymentStartsService,
  type StartedLease,
} from '../../payments';
import { SubscriptionsRepository } from '../../subscriptions';
import { leaseOf } from './payment-lease';
import { SettlePaymentWorkflow } from './settle-payment.workflow';

const INVOICES_PER_READ = 50;

interface StartedCharges {
  /** Number of invoices found, including those that are not charged. */
  readonly examined: number;
  /** Pending payments of the invoices to charge. The caller sends them to the provider. */
  readonly payments: readonly Payment[];
}

export type OnFailure = (invoiceId: string, error: unknown) => Promise<void>;

type ChooseMethod = (invoice: Invoice) => ChosenMethod | null;

/**
 * Charges due invoices that are collected automatically, in two commits with the call to the provider between them. If
 * several processes try to charge an invoice at the same time, only the first to lock the invoice charges it.
 *
 * 1. First commit: locks due invoices and their customers, and chooses the default payment method of each customer who
 *    is not deleted. Stops the collection of invoices that cannot be charged automatically now. Postpones an invoice by
 *    a day if its provider is switched off. Postpones an invoice by a minute or less while recent notifications of its
 *    provider are unprocessed. For each other invoice, reserves the amount and writes a pending payment.
 * 2. Charges each payment at its provider, outside any transaction.
 * 3. Second commit: settles the payment (`SettlePaymentWorkflow`).
 */
@Injectable()
export class CollectInvoicesWorkflow {
  constructor(
    private readonly leases: ReturnedLeases,
    private readonly collection: InvoiceCollectionService,
    private readonly customers: CustomersService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly methods: PaymentMethodsService,
    private readonly starts: PaymentStartsService,
    private readonly charges: AutomaticChargesService,
    private readonly settlePayment: SettlePaymentWorkflow,
  ) {}

  /**
   * Locks due invoices and writes their pending payments, in one commit. Reads {@link INVOICES_PER_READ} invoices even
   * if `limit` is lower, because most of them may have nothing to charge. If this process dies, or the answer to the
   * commit is lost, `DuePayments` completes the payments.
   * @param limit maximum number of payments to write; further invoices stay due
   */
  async begin(scope: TimeScope, now: Date, limit: number): Promise<StartedCharges> {
    const lockDue = () => this.collection.lockDue(scope, now, INVOICES_PER_READ);
    return this.beginWith(lockDue, scope === null, now, limit);
  }

  /**
   * Does the same as {@link begin} for invoices that are due in real time, with one commit for each invoice. `examined`
   * does not count invoices that fail. If an invoice fails after the payments of other invoices were written, returns
   * these payments at once, because their lease has begun. This failure is not reported: the next call begins with the
   * failed invoice.
   * @param onFailure called for an invoice that fails before any payment was written; must postpone the invoice
   */
  async beginOneByOne(
    now: Date,
    limit: number,
    isStopping: () => boolean,
    onFailure: OnFailure,
  ): Promise<StartedCharges> {
    const payments: Payment[] = [];
    let examined = 0;
    for (const id of await this.collection.findDue(now, INVOICES_PER_READ)) {
      if (payments.length === limit || isStopping()) break;
      try {
        const lockOne = () => this.collection.lockIfDue(id, now);
        const one = await this.beginWith(lockOne, true, now, 1);
        examined += one.examined;
        payments.push(...one.payments);
      } catch (error) {
        if (payments.length > 0) break;
        await onFailure(id, error);
      }
    }
    return { examined, payments };
  }

  private async beginWith(
    lockDue: () => Promise<readonly Invoice[]>,
    isRealTime: boolean,
    now: Date,
    limit: number,
  ): Promise<StartedCharges> {
    const started = await this.starts.lease();
    return this.leases.begin(
      async () => this.attemptDue(await lockDue(), isRealTime, now, limit, started),
      ({ payments }) => leaseOf(payments),
    );
  }

  private async attemptDue(
    due: readonly Invoice[],
    isRealTime: boolean,
    now: Date,
    limit: number,
    started: StartedLease,
  ): Promise<StartedCharges> {
    const methodOf = await this.methodsFor(due, now);
    const idle = due.filter((invoice) => methodOf(invoice) === null);
    await this.collection.stopCollecting(idle, now);
    const payments: Payment[] = [];
    const ready = await this.postponeWaiting(due, methodOf, isRealTime, now);
    for (const invoice of ready) {
      const method = methodOf(invoice);
      if (method === null || payments.length === limit) continue;
      payments.push(await this.attempt(invoice, method, started, now));
    }
    return { examined: due.length, payments };
  }

  async charge(payment: Payment): Promise<void> {
    await this.settlePayment.settle(payment, await this.charges.charge(payment));
  }

  private async postponeWaiting(
    due: readonly Invoice[],
    methodOf: ChooseMethod,
    isRealTime: boolean,
    now: Date,
  ): Promise<readonly Invoice[]> {
    const providers = new Set(due.flatMap((invoice) => methodOf(invoice)?.provider ?? []));
    let rest = due;
    for (const provider of providers) {
      const waitMs = await this.charges.waitMs(provider, isRealTime);
      if (waitMs === 0) continue;
      const waits = (invoice: Invoice): boolean => methodOf(invoice)?.provider === provider;
      await this.collection.postpone(rest.filter(waits), waitMs, now);
      rest = rest.filter((invoice) => !waits(invoice));
    }
    return rest;
  }

  /**
   * Returns a function that chooses the payment method of an invoice. The function returns null if the invoice cannot
   * be charged automatically. Reads the data of all invoices at once.
   */
  private async methodsFor(due: readonly Invoice[], now: Date): Promise<ChooseMethod> {
    const customerIds = due.map(({ customerId }) => customerId);
    const existing = await this.customers.lockExistingIds(customerIds);
    const methods = await this.methods.findDefaultMethods([...existing]);
    const subscriptionIds = due.flatMap(({ subscriptionId }) => subscriptionId ?? []);
    const notCharged = await this.subscriptions.withoutAutomaticCharges(subscriptionIds, now);
    return (invoice) => {
      const reason = notCharged.get(invoice.subscriptionId ?? '');
      return methodToCharge({
        method: methods.get(invoice.customerId) ?? null,
        payableMinor: payableOf(invoice),
        isNotChargedAutomatically:
          reason !== undefined && !(reason.isUnpaid && invoice.isCollectedWhileUnpaid),
      });
    };
  }

  private async attempt(
    due: Invoice,
    method: ChosenMethod,
    lease: StartedLease,
    now: Date,
  ): Promise<Payment> {
    const { invoice, amount } = await this.collection.begin(due, now);
    const { customerId, id: invoiceId, currency, attemptCount: collectionAttempt } = invoice;
    const fields = { ...method, customerId, invoiceId, collectionAttempt, amount, currency };
    const started = { id: newId('pay'), ...lease };
    return this.starts.insert(started, { ...fields, metadata: {} }, changedAt(now, due));
  }
}
