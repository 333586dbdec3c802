import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { AttemptsUnderWay } from './attempts-under-way';
import type { Invoice } from './domain/invoice';
import { withAttempt } from './domain/invoice-payment';
import { DueInvoicesRepository, type TimeScope } from './due-invoices.repository';
import { InvoicesRepository } from './invoices.repository';

/** Which invoices are to be charged automatically, and what became of that. Who charges is a module above. */
@Injectable()
export class InvoiceCollectionService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly due: DueInvoicesRepository,
    private readonly attempts: AttemptsUnderWay,
  ) {}

  /**
   * Open invoices that are due to be charged, locked until the caller's transaction ends; it begins an attempt at each or
   * lets it wait. Those that others hold are left to them.
   */
  async lockDue(scope: TimeScope, now: Date, most: number): Promise<readonly Invoice[]> {
    return this.invoices.findAll(await this.due.lockCollectable(scope, now, most));
  }

  /** Ids of invoices that are void or were credited wholly since, and whose subscription may owe nothing any more. */
  findClosed(scope: TimeScope, now: Date, most: number): Promise<readonly string[]> {
    return this.due.findClosed(scope, now, most);
  }

  /** When the next one on a test clock is due. */
  nextDueOn(testClockId: string): Promise<Date | null> {
    return this.due.nextCollectionOn(testClockId);
  }

  /** Reserves all that is free of a locked invoice for an automatic attempt; returns it with the attempt counted. */
  async begin(before: Invoice, now: Date): Promise<Invoice> {
    this.database.requireTransaction();
    const after = withAttempt(before, now);
    await this.invoices.update(after);
    return after;
  }

  /** Plans nothing more for locked invoices: they wait for somebody to pay them, or for another payment method. */
  wait(invoices: readonly Invoice[], now: Date): Promise<void> {
    const ids = invoices.map(({ id }) => id);
    return this.due.stopCollecting(ids, now);
  }

  /** Plans the next attempt at locked invoices for a later time, without counting one. */
  postpone(invoices: readonly Invoice[], until: Date, now: Date): Promise<void> {
    const ids = invoices.map(({ id }) => id);
    return this.due.postponeCollecting(ids, until, now);
  }

  /**
   * Has the open invoices of a customer charged at once, in the caller's transaction; what is being paid, once that has
   * ended.
   */
  collectAgain(customerId: string, now: Date): Promise<void> {
    return this.due.collectAgain(customerId, now);
  }

  /** What automatic attempts at the open invoices of a subscription came to; null: none failed. */
  async failureOf(subscriptionId: string): Promise<'failed' | 'used_up' | null> {
    const attempted = await this.due.attemptedOf(subscriptionId);
    const underWay = await this.attempts.of(attempted.map(({ id }) => id));
    const failed = attempted.filter(
      ({ id, attemptCount }) => attemptCount > (underWay.has(id) ? 1 : 0),
    );
    if (failed.length === 0) return null;
    const isTried = failed.every(({ id, isPlanned }) => isPlanned || underWay.has(id));
    return isTried ? 'failed' : 'used_up';
  }

  /** Those of the subscriptions of which an open invoice is being paid; their open invoices stay locked. */
  lockBeingPaid(subscriptionIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.due.lockBeingPaid(subscriptionIds);
  }

  /** Whether an invoice of the subscription is owed: open or written off. */
  isOwedBy(subscriptionId: string): Promise<boolean> {
    return this.due.isOwedBy(subscriptionId);
  }
}
