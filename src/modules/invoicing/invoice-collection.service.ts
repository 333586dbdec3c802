import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { changedAt, nextVersion } from '../../core/next-version';
import { Outbox, toEventRecord } from '../../platform/outbox';
import type { Invoice } from './domain/invoice';
import { withAttempt } from './domain/invoice-payment';
import { DueInvoicesRepository, type TimeScope } from './due-invoices.repository';
import { invoiceUpdated } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';

const FAILED_WAIT_MS = 60_000;

/** An invoice whose automatic charge was started, and the minor units reserved for the charge. */
export interface StartedAttempt {
  readonly invoice: Invoice;
  readonly amount: bigint;
}

/** Finds invoices to charge automatically, and records the attempts. The billing workflows charge them. */
@Injectable()
export class InvoiceCollectionService {
  constructor(
    private readonly invoices: InvoicesRepository,
    private readonly due: DueInvoicesRepository,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Returns open invoices whose automatic charge is due, locked until the caller's transaction ends. The caller must
   * start, postpone or stop the charge of each invoice; otherwise the charge stays due. Skips invoices that other
   * transactions have locked.
   */
  async lockDue(scope: TimeScope, now: Date, limit: number): Promise<readonly Invoice[]> {
    return this.invoices.findAll(await this.due.lockCollectable(scope, now, limit));
  }

  /** Returns the ids of open invoices whose automatic charge is due in real time, those due longest first. */
  findDue(now: Date, limit: number): Promise<readonly string[]> {
    return this.due.findCollectable(now, limit);
  }

  /**
   * Does the same as {@link lockDue} for one invoice in real time. Returns no invoice if the charge is no longer due.
   * Shortens the lock timeout of the transaction.
   */
  async lockIfDue(id: string, now: Date): Promise<readonly Invoice[]> {
    return this.invoices.findAll(await this.due.lockOneCollectable(id, now));
  }

  /**
   * Postpones a due charge that could not be started, or the due end of a collection, by a minute. The invoice need not
   * be locked.
   */
  postponeFailed(id: string, now: Date): Promise<void> {
    return this.due.postponeCollectable(id, new Date(now.getTime() + FAILED_WAIT_MS), now);
  }

  /**
   * Reserves the whole payable amount of a locked invoice for an automatic charge, which counts as an attempt. Records
   * `invoice.updated`.
   */
  async begin(before: Invoice, now: Date): Promise<StartedAttempt> {
    const invoice = withAttempt(before, now);
    const amount = invoice.amountPending - before.amountPending;
    invariant(amount > 0n, `The attempt at ${before.id} charges something.`);
    await this.invoices.update(invoice);
    await this.outbox.recordChange(invoiceUpdated, { after: invoice, before }, now);
    return { invoice, amount };
  }

  /**
   * Stops automatic charges of locked open invoices. A payment through the API, or a new payment method, can start them
   * again. Records `invoice.updated`, except for invoices that become overdue now, because `invoice.overdue` is
   * recorded for them.
   */
  async stopCollecting(invoices: readonly Invoice[], now: Date): Promise<void> {
    await this.due.stopCollecting(
      invoices.map(({ id }) => id),
      now,
    );
    const becomesOverdue = ({ overdueAt, dueAt, amountPending }: Invoice): boolean =>
      overdueAt === null && dueAt !== null && dueAt <= now && amountPending === 0n;
    await this.recordPlanned(
      invoices.filter((invoice) => !becomesOverdue(invoice)),
      null,
      now,
    );
  }

  /** Delays the charge of locked invoices. Does not count an attempt. Records no event, because it may happen often. */
  postpone(invoices: readonly Invoice[], waitMs: number, now: Date): Promise<void> {
    const ids = invoices.map(({ id }) => id);
    return this.due.planCollecting(ids, new Date(now.getTime() + waitMs), now);
  }

  /**
   * Plans to charge the open invoices of a customer now, in the caller's transaction. An invoice is charged even if its
   * subscription becomes unpaid before then, for example because the charge of another invoice failed. If pending
   * payments reserve the whole unpaid amount of an invoice, its charge waits until these payments have ended. Records
   * `invoice.updated`.
   */
  async planChargesNow(customerId: string, now: Date): Promise<void> {
    const openIds = await this.due.lockAutomaticOf(customerId);
    const open = await this.invoices.findAll(openIds);
    const changed = open.filter(({ collectAt }) => collectAt?.getTime() !== now.getTime());
    const ids = changed.map(({ id }) => id);
    await this.due.planCollecting(ids, now, now);
    await this.due.collectWhileUnpaid(openIds);
    await this.recordPlanned(changed, now, now);
  }

  private async recordPlanned(
    invoices: readonly Invoice[],
    collectAt: Date | null,
    now: Date,
  ): Promise<void> {
    await this.outbox.recordAll(
      invoices.map((before) => {
        const after = nextVersion(before, now, { collectAt });
        return toEventRecord(invoiceUpdated, { after, before, occurredAt: changedAt(now, before) });
      }),
    );
  }

  /** Returns the open invoices of subscriptions, locked until the caller's transaction ends. */
  async lockOpenOf(subscriptionIds: readonly string[]): Promise<readonly Invoice[]> {
    return this.invoices.findAll(await this.due.lockOpenOf(subscriptionIds));
  }
}
