import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import { invariant } from '../../core/invariant';
import { changedAt } from '../../core/next-version';
import { assertVersion, Database, type VersionCondition } from '../../platform/database';
import { Outbox } from '../../platform/outbox';
import type { HeldByInvoice } from './domain/given-back';
import type { Invoice } from './domain/invoice';
import { nextAttemptAt, type RetryPlan } from './domain/invoice-collection';
import {
  decidePayment,
  type PaidInvoice,
  unpaidOf,
  withoutReserve,
  withPayment,
  withReserve,
} from './domain/invoice-payment';
import {
  invoiceNotFound,
  invoiceNotPayable,
  invoicePaymentPending,
  paymentExceedsInvoice,
} from './invoicing.errors';
import { invoicePaid, invoicePaymentFailed, invoiceUpdated } from './invoicing.events';
import { HeldByInvoiceRepository } from './held-by-invoice.repository';
import { InvoicesRepository } from './invoices.repository';

/** A succeeded payment, and the amount that it reserved on its invoice while it was pending. In minor units. */
export interface SucceededPayment {
  readonly amount: bigint;
  readonly reserved: bigint;
}

/** A failed or canceled payment of an invoice. */
export interface FailedPayment {
  readonly amount: bigint;
  /** True if the payment was an automatic charge. */
  readonly wasAttempt: boolean;
  /** True if the provider or this service canceled the payment; false if the payment failed. */
  readonly isCanceled: boolean;
}

/** Reserves amounts of invoices for payments, and pays invoices. The payments themselves belong to a higher module. */
@Injectable()
export class InvoicePaymentsService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly held: HeldByInvoiceRepository,
    private readonly outbox: Outbox,
  ) {}

  /** @throws {ProblemError} `invoice_not_found` */
  async get(id: string): Promise<Invoice> {
    return (await this.find(id)) ?? raise(invoiceNotFound(id));
  }

  find(id: string): Promise<Invoice | null> {
    return this.invoices.find(id);
  }

  /** Locks the invoice for the caller's transaction. Lock order: subscription, invoice, payments of the invoice. */
  async lock(id: string): Promise<Invoice> {
    const invoice = await this.invoices.lock(id);
    invariant(invoice !== null, `The invoice ${id} is gone.`);
    return invoice;
  }

  /**
   * Reserves the unpaid amount of an invoice, or a part of it, for a payment, in the caller's transaction. An invoice
   * can have several pending payments, as long as their sum is at most the unpaid amount. Records `invoice.updated`.
   * @param requested minor units; null: all that is unpaid and not reserved
   * @returns the amount reserved, and the time of the payment: `now`, or the last change of the invoice if that is
   *   later. Null if the invoice was a draft that has been deleted
   * @throws {ProblemError} `precondition_failed`, `invoice_not_payable`, `invoice_payment_pending`,
   *   `payment_exceeds_invoice`
   */
  async reserve(
    id: string,
    requested: bigint | null,
    now: Date,
    expected: VersionCondition = 'any',
  ): Promise<{ readonly amount: bigint; readonly at: Date } | null> {
    const invoice = await this.invoices.lock(id);
    if (invoice === null) return null;
    assertVersion(expected, invoice);
    const decision = decidePayment(invoice, requested);
    switch (decision.kind) {
      case 'not_payable':
        throw invoiceNotPayable(id, invoice.status);
      case 'under_way':
        throw invoicePaymentPending(id);
      case 'exceeds':
        throw paymentExceedsInvoice(decision.payable);
      case 'reserve': {
        const at = changedAt(now, invoice);
        const { amount } = decision;
        await this.update(invoice, withReserve(invoice, amount, at), at);
        return { amount, at };
      }
    }
  }

  /**
   * Reserves an amount of an invoice for a payment whose charge was already sent and has no outcome yet. The amount may
   * be more than is payable now. If the payment succeeds, it pays at most the amount that is unpaid at that time.
   * Records `invoice.updated`. The caller has locked the invoice.
   */
  async reserveForSentCharge(before: Invoice, amount: bigint, now: Date): Promise<void> {
    await this.update(before, withReserve(before, amount, now), now);
  }

  /**
   * Pays an invoice with a succeeded payment, and frees the amount that the payment reserved. Returns the part of the
   * payment that paid the invoice. The caller turns the rest into credit of the customer. Records `invoice.paid` or
   * `invoice.updated`. Changes and records nothing if the payment reserved nothing and the invoice has nothing left to
   * pay. Runs in the caller's transaction, which has locked the invoice.
   */
  async pay(
    before: Invoice,
    { amount, reserved }: SucceededPayment,
    retry: RetryPlan,
    now: Date,
  ): Promise<PaidInvoice> {
    this.database.requireTransaction();
    const { invoice: paid, appliedMinor } = withPayment(before, amount, reserved, now);
    if (appliedMinor === 0n && reserved === 0n) return { invoice: before, appliedMinor };
    const after = { ...paid, collectAt: nextAttemptAt(paid, false, retry, now) };
    if (after.status === 'paid' && before.status !== 'paid') {
      await this.invoices.update(after);
      await this.outbox.record(invoicePaid, { after, before, occurredAt: now });
    } else {
      await this.update(before, after, now);
    }
    return { invoice: after, appliedMinor };
  }

  /**
   * Frees the amount that a failed payment had reserved on an invoice, and plans the next automatic charge if there is
   * one. Records `invoice.payment_failed`. If the payment was canceled and the invoice has nothing left to pay, records
   * `invoice.updated` instead. The caller has locked the invoice.
   */
  async fail(
    before: Invoice,
    failed: FailedPayment,
    retry: RetryPlan,
    now: Date,
  ): Promise<Invoice> {
    this.database.requireTransaction();
    const freed = withoutReserve(before, failed.amount, now);
    const after = { ...freed, collectAt: nextAttemptAt(freed, failed.wasAttempt, retry, now) };
    await this.invoices.update(after);
    const isNotNeeded = failed.isCanceled && unpaidOf(after) === 0n;
    const event = isNotNeeded ? invoiceUpdated : invoicePaymentFailed;
    await this.outbox.record(event, { after, before, occurredAt: now });
    return after;
  }

  private async update(before: Invoice, after: Invoice, now: Date): Promise<void> {
    await this.invoices.update(after);
    await this.outbox.record(invoiceUpdated, { after, before, occurredAt: now });
  }

  /** Returns the amounts that limit further refunds of an invoice. */
  heldBy(invoiceId: string): Promise<HeldByInvoice> {
    return this.held.heldByInvoice(invoiceId);
  }

  heldByAll(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, HeldByInvoice>> {
    return this.held.heldBy(invoiceIds);
  }
}
