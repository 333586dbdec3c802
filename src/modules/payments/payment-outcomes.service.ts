import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postPayment, postRecovery } from '../../core/ledger';
import { isTerminal } from '../../core/states';
import { Clock } from '../../platform/clock';
import { Configuration } from '../../platform/config';
import { Database } from '../../platform/database';
import { Idempotency } from '../../platform/idempotency';
import { Outbox } from '../../platform/outbox';
import { CustomersService } from '../customers';
import {
  CreditBalanceService,
  type Invoice,
  InvoiceCollectionService,
  InvoicePaymentsService,
  type RetryPlan,
} from '../invoicing';
import { LedgerService } from '../ledger';
import {
  FirstPaymentsService,
  type Subscription,
  SubscriptionStandingService,
} from '../subscriptions';
import { TestClocksService } from '../test-clocks';
import { nextAttemptAt } from './collection/domain/attempt';
import { DiscrepanciesService } from './discrepancies/discrepancies.service';
import { discrepancyOf } from './discrepancies/domain/discrepancy';
import {
  correctedToSucceeded,
  type Payment,
  PAYMENT_TRANSITIONS,
  withOutcome,
} from './domain/payment';
import type { ProviderOutcome } from './domain/payment-provider';
import { paymentAnswer, PAYMENT_EVENTS } from './payments.events';
import { PaymentsRepository } from './payments.repository';

/** Locked target of a payment. The subscription is locked before its invoice. */
interface Owed {
  readonly subscription: Subscription | null;
  readonly invoice: Invoice;
}

/** The payment as it was when its provider was asked. */
type Asked = Pick<Payment, 'id' | 'leasedBy'>;

/** Writes down what came of a charge: the last of the two commits of a payment. */
@Injectable()
export class PaymentOutcomesService {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentsRepository,
    private readonly discrepancies: DiscrepanciesService,
    private readonly invoices: InvoicePaymentsService,
    private readonly collection: InvoiceCollectionService,
    private readonly credit: CreditBalanceService,
    private readonly customers: CustomersService,
    private readonly standing: SubscriptionStandingService,
    private readonly firstPayments: FirstPaymentsService,
    private readonly ledger: LedgerService,
    private readonly testClocks: TestClocksService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {}

  /**
   * Writes the outcome, what it makes of the invoice, the events, the postings and the answer of the request, in one commit. An
   * outcome that comes after a final one changes nothing; one that contradicts it is recorded as a discrepancy.
   */
  settle({ id, leasedBy }: Asked, outcome: ProviderOutcome): Promise<Payment> {
    const askedAt = this.clock.now();
    return this.database.transaction(async () => {
      const owed = await this.lockOwed(id);
      const before = await this.payments.lock(id);
      invariant(before !== null, `The payment ${id} is gone.`);
      const now = owed === null ? askedAt : await this.testClocks.shownTo(owed.invoice.testClockId);
      const said = withOutcome(before, { outcome, askedAt, leasedBy }, now);
      const after = said === before ? before : await this.write(before, said, owed, now);
      await this.idempotency.completeFor(id, paymentAnswer(after));
      await this.compare(before, outcome);
      return after;
    });
  }

  /**
   * Books a failed or canceled payment as succeeded, in the caller's transaction: with its postings, and for what its invoice
   * still needs.
   * @param reference the provider's name for the charge
   */
  async correct(id: string, reference: string): Promise<void> {
    this.database.requireTransaction();
    const owed = await this.lockOwed(id);
    const before = await this.payments.lock(id);
    invariant(before !== null, `The payment ${id} is gone.`);
    const now =
      owed === null ? this.clock.now() : await this.testClocks.shownTo(owed.invoice.testClockId);
    // The failure freed the reserve, which paying expects.
    const reserved =
      owed === null
        ? null
        : { ...owed, invoice: this.invoices.reserveAgain(owed.invoice, before.amount, now) };
    await this.write(before, correctedToSucceeded(before, reference, now), reserved, now);
  }

  private async compare(before: Payment, outcome: ProviderOutcome): Promise<void> {
    const { id: paymentId, status, providerReference } = before;
    const reported = { paymentId, refundId: null, status, providerReference };
    const discrepancy = discrepancyOf(reported, outcome);
    if (discrepancy !== null) await this.discrepancies.record(discrepancy);
  }

  /** Which invoice a payment is for, and of which subscription, never changes: both may be read before they are locked. */
  private async lockOwed(id: string): Promise<Owed | null> {
    const invoiceId = (await this.payments.find(id))?.invoiceId ?? null;
    if (invoiceId === null) return null;
    const { subscriptionId } = await this.invoices.get(invoiceId);
    const subscription = subscriptionId === null ? null : await this.standing.lock(subscriptionId);
    return { subscription, invoice: await this.invoices.lock(invoiceId) };
  }

  private async write(
    before: Payment,
    said: Payment,
    owed: Owed | null,
    now: Date,
  ): Promise<Payment> {
    const after = owed === null ? said : await this.applyTo(owed, said, now);
    await this.payments.updateOutcome(after);
    if (after.status !== before.status && after.status !== 'pending') {
      const event = PAYMENT_EVENTS[after.status];
      await this.outbox.record(event, { after, before, occurredAt: now });
    }
    if (after.status === 'succeeded') await this.keep(after, owed?.invoice ?? null);
    return this.expireUnpaid(after, owed, now);
  }

  /** Pays the locked invoice, or frees what the payment reserved of it; nothing while the outcome is not known. */
  private async applyTo(owed: Owed, payment: Payment, now: Date): Promise<Payment> {
    const { amount } = payment;
    switch (payment.status) {
      case 'succeeded': {
        const paid = await this.invoices.pay(owed.invoice, amount, this.retryOf(owed), now);
        if (paid.invoice.status === 'paid') await this.notePaid(owed, now);
        return { ...payment, amountApplied: paid.appliedMinor };
      }
      case 'failed':
      case 'canceled': {
        const failed = { amount, wasAttempt: payment.collectionAttempt !== null };
        const invoice = await this.invoices.fail(owed.invoice, failed, this.retryOf(owed), now);
        if (failed.wasAttempt) await this.noteFailed({ ...owed, invoice }, now);
        return payment;
      }
      case 'pending':
      case 'processing':
      case 'requires_action':
        return payment;
    }
  }

  /** A first payment that is waited for is not tried beyond that. */
  private retryOf({ subscription }: Owed): RetryPlan {
    const end = subscription?.incompleteExpiresAt ?? null;
    return (attemptCount, now) =>
      nextAttemptAt(attemptCount, this.configuration.paymentRetryDays, now, end);
  }

  private async notePaid({ subscription }: Owed, now: Date): Promise<void> {
    if (subscription === null || (await this.collection.isOwedBy(subscription.id))) return;
    await this.standing.note(subscription, 'settled', now);
  }

  /** An attempt at an invoice that is void or written off by now says nothing of its subscription. */
  private async noteFailed({ subscription, invoice }: Owed, now: Date): Promise<void> {
    if (subscription === null || invoice.status !== 'open') return;
    await this.standing.note(subscription, invoice.collectAt === null ? 'used_up' : 'failed', now);
  }

  /** Ends what waited for this payment beyond its time, and did not get all. Returns the payment as it is then. */
  private async expireUnpaid(payment: Payment, owed: Owed | null, now: Date): Promise<Payment> {
    const subscription = owed?.subscription ?? null;
    if (subscription === null || !isTerminal(PAYMENT_TRANSITIONS, payment.status)) return payment;
    if (!(await this.firstPayments.expireUnpaid(subscription, now))) return payment;
    return (await this.payments.find(payment.id)) ?? payment;
  }

  /**
   * Posts the money, and adds the part that pays no invoice to the credit balance of the customer. A written-off invoice is
   * owed again before it is paid.
   * @param invoice as it was before
   */
  private async keep(
    { id, customerId, currency, provider, amount, amountApplied, updatedAt }: Payment,
    invoice: Invoice | null,
  ): Promise<void> {
    const occurredAt = invoice === null ? await this.shownTo(customerId) : updatedAt;
    const left = amount - amountApplied;
    const credit = { paymentId: id, customerId, currency, amount: left };
    await this.credit.add({ ...credit, reserved: 0n, refunded: 0n }, occurredAt);
    const source = { sourceId: id, customerId, occurredAt };
    if (invoice?.status === 'uncollectible') {
      await this.ledger.post(postRecovery(currency, amountApplied), source);
    }
    const payment = { currency, provider, amountMinor: amount, toReceivableMinor: amountApplied };
    await this.ledger.post(postPayment(payment), source);
  }

  /** The time that it is for a customer, so that its credits have one order. */
  private async shownTo(customerId: string): Promise<Date> {
    const customers = await this.customers.getAllForHistory([customerId]);
    return this.testClocks.shownTo(customers.get(customerId)?.testClockId ?? null);
  }
}
