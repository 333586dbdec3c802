import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postPayment, postRecovery } from '../../core/ledger';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Idempotency } from '../../platform/idempotency';
import { Outbox } from '../../platform/outbox';
import { type Invoice, InvoicePaymentsService } from '../invoicing';
import { LedgerService } from '../ledger';
import { TestClocksService } from '../test-clocks';
import { type Payment, withOutcome } from './domain/payment';
import type { ProviderOutcome } from './domain/payment-provider';
import { answerAbout, PAYMENT_EVENTS } from './payments.events';
import { PaymentsRepository } from './payments.repository';

/** Writes down what came of a charge: the last of the two commits of a payment. */
@Injectable()
export class PaymentOutcomesService {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentsRepository,
    private readonly invoices: InvoicePaymentsService,
    private readonly ledger: LedgerService,
    private readonly testClocks: TestClocksService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
  ) {}

  /**
   * The outcome, what it makes of the invoice, the events, the postings and the answer of the request, in one commit. Late
   * outcomes change nothing.
   */
  settle(id: string, outcome: ProviderOutcome): Promise<Payment> {
    const askedAt = this.clock.now();
    return this.database.transaction(async () => {
      const invoice = await this.lockInvoiceOf(id);
      const before = await this.payments.lock(id);
      invariant(before !== null, `The payment ${id} is gone.`);
      const now = invoice === null ? askedAt : await this.testClocks.shownTo(invoice.testClockId);
      const said = withOutcome(before, outcome, now, askedAt);
      const after = said === before ? before : await this.write(before, said, invoice, now);
      await this.idempotency.completeFor(id, answerAbout(after));
      return after;
    });
  }

  /** Which invoice a payment is for never changes: it may be read before the payment is locked, which comes after. */
  private async lockInvoiceOf(id: string): Promise<Invoice | null> {
    const invoiceId = (await this.payments.find(id))?.invoiceId ?? null;
    return invoiceId === null ? null : this.invoices.lock(invoiceId);
  }

  private async write(
    before: Payment,
    said: Payment,
    invoice: Invoice | null,
    now: Date,
  ): Promise<Payment> {
    const after = invoice === null ? said : await this.applyTo(invoice, said, now);
    await this.payments.updateOutcome(after);
    if (after.status !== before.status && after.status !== 'pending') {
      const event = PAYMENT_EVENTS[after.status];
      await this.outbox.record(event, { after, before, occurredAt: now });
    }
    if (after.status === 'succeeded') await this.post(after, invoice);
    return after;
  }

  /** Pays the locked invoice, or frees what the payment reserved of it; nothing while the outcome is not known. */
  private async applyTo(invoice: Invoice, payment: Payment, now: Date): Promise<Payment> {
    switch (payment.status) {
      case 'succeeded': {
        const { appliedMinor } = await this.invoices.pay(invoice, payment.amount, now);
        return { ...payment, amountApplied: appliedMinor };
      }
      case 'failed':
      case 'canceled':
        await this.invoices.fail(invoice, payment.amount, now);
        return payment;
      case 'pending':
      case 'processing':
      case 'requires_action':
        return payment;
    }
  }

  /**
   * Money that pays no invoice is the customer's credit. What was written off is owed again before it is paid.
   * @param invoice as it was before
   */
  private async post(
    { id, customerId, currency, provider, amount, amountApplied, updatedAt }: Payment,
    invoice: Invoice | null,
  ): Promise<void> {
    const facts = { sourceId: id, customerId, occurredAt: updatedAt };
    if (invoice?.status === 'uncollectible') {
      await this.ledger.post(postRecovery(currency, amountApplied), facts);
    }
    const payment = { currency, provider, amountMinor: amount, toReceivableMinor: amountApplied };
    await this.ledger.post(postPayment(payment), facts);
  }
}
