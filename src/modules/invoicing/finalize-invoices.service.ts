import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { invalidTransition } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox, toEventRecord } from '../../platform/outbox';
import { type Customer, CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import { BillingFactsService } from './billing-facts.service';
import { decideInTurn } from './domain/decide-in-turn';
import { decideAgain } from './domain/decide-invoice';
import { mayInvoiceBecome } from './domain/finalize';
import { isWaiting, type WaitingDraft } from './domain/grace';
import type { Invoice } from './domain/invoice';
import { billsBeyond, orderOf, renewDraft } from './domain/renewal-draft';
import { EarnedTimes } from './earned-times';
import { InvoiceFollowers } from './invoice-followers';
import { invoiceEmpty, invoiceNotFound } from './invoicing.errors';
import { invoiceDeleted } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { assertNotTooLarge, IssueInvoiceService } from './issue-invoice.service';
import { type DueDraft, RenewalDraftsRepository } from './renewal-drafts.repository';
import { UsageReadingsService } from './usage-readings.service';

/**
 * Finalises drafts: those that somebody made, and those of renewals, which are made anew of what they were ordered as, with
 * the usage that came until now.
 */
@Injectable()
export class FinalizeInvoicesService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly waiting: RenewalDraftsRepository,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly facts: BillingFactsService,
    private readonly usage: UsageReadingsService,
    private readonly issuing: IssueInvoiceService,
    private readonly followers: InvoiceFollowers,
    private readonly earned: EarnedTimes,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Finalises a draft now: it takes the next number, and its amounts are fixed with the usage, taxes and credit of now.
   * @throws {ProblemError} `invoice_not_found`, `invalid_transition`, `invoice_empty`, `invoice_too_large`,
   *   `test_clock_advancing`, `test_clock_failed`
   */
  finalize(id: string): Promise<Invoice> {
    return this.database.transaction(async () => {
      const found = await this.invoices.find(id);
      if (found === null) throw invoiceNotFound(id);
      const customer = await this.customers.lockForHistory(found.customerId);
      const now = await this.testClocks.nowFor(customer.testClockId);
      await this.followers.lock(found);
      const before = await this.invoices.lock(id);
      if (before === null) throw invoiceNotFound(id);
      if (!mayInvoiceBecome(before, 'open')) {
        throw invalidTransition('invoice', before.status, 'open');
      }
      if (!isWaiting(before)) return this.finalizeOneOff(before, customer, now);
      const [invoice] = await this.finalizeAll([before], now);
      if (invoice === undefined) throw invoiceEmpty(id);
      return invoice;
    });
  }

  /** Drafts of renewals that are due by the real clock, in due order, leased to the caller. */
  claimDue(now: Date, leaseEndsAt: Date, most: number): Promise<readonly DueDraft[]> {
    return this.waiting.claimDue(now, leaseEndsAt, most);
  }

  /** Those that are due on a test clock, in due order. */
  dueOn(testClockId: string, now: Date, most: number): Promise<readonly DueDraft[]> {
    return this.waiting.dueOn(testClockId, now, most);
  }

  /** Keeps a draft from being finalised before an instant. */
  postpone(id: string, until: Date): Promise<void> {
    return this.waiting.postpone(id, until);
  }

  /** When the next one is due on a test clock. */
  nextDueOn(testClockId: string): Promise<Date | null> {
    return this.waiting.nextDueOn(testClockId);
  }

  /**
   * Finalises drafts of renewals, in their order, in the caller's transaction, which has locked their subscriptions: of
   * each there is one. Those that wait no more are left alone, and those that say nothing are deleted.
   */
  async finalizeWaiting(ids: readonly string[], now: Date): Promise<void> {
    await this.finalizeAll(await this.waiting.lock(ids), now);
  }

  /**
   * What waits of locked subscriptions and charges for a period that was not closed yet, locked: before that is credited or
   * cut short, it is billed.
   */
  async lockBeyond(subscriptionIds: readonly string[]): Promise<readonly WaitingDraft[]> {
    if (subscriptionIds.length === 0) return [];
    const drafts = await this.waiting.lock(await this.waiting.ofSubscriptions(subscriptionIds));
    if (drafts.length === 0) return [];
    const earnedUntil = earnedUntilOf(await this.earned.of(subscriptionIds));
    return drafts.filter((draft) => billsBeyond(draft, earnedUntil(draft)));
  }

  /** Finalises locked drafts of renewals one after the other: each finds what the former left of coupons, credit and usage. */
  async finalizeInTurn(drafts: readonly WaitingDraft[], now: Date): Promise<void> {
    for (const draft of drafts) await this.finalizeAll([draft], now);
  }

  private async finalizeOneOff(before: Invoice, customer: Customer, now: Date): Promise<Invoice> {
    const order = { ...before, lines: [], billingPeriod: null };
    const draft = decideAgain(before, await this.facts.load(order, customer, now, 'issue'));
    await this.invoices.replaceLines([draft]);
    return this.issuing.finalize(draft, customer, now);
  }

  private async finalizeAll(
    drafts: readonly WaitingDraft[],
    now: Date,
  ): Promise<readonly Invoice[]> {
    this.database.requireTransaction();
    if (drafts.length === 0) return [];
    const ordered = drafts.map((draft) => ({ ...orderOf(draft), draft }));
    const customers = await this.customers.getAllForHistory(
      drafts.map(({ customerId }) => customerId),
    );
    const subscriptionIds = drafts.flatMap(({ subscriptionId }) => subscriptionId ?? []);
    const earnedUntil = earnedUntilOf(await this.earned.of(subscriptionIds));
    const factsOf = await this.facts.loadForDrafts(ordered, [...customers.values()], now);
    const decided = decideInTurn(
      ordered,
      factsOf,
      (order, facts) =>
        renewDraft(order.draft, order, facts, () => newId('il'), earnedUntil(order.draft), now),
      () => newId('crd'),
      await this.issuing.openMinorOf(ordered),
      now,
    );
    decided.forEach(({ invoice }) => {
      assertNotTooLarge(invoice);
    });
    const renewed = decided.flatMap(({ invoice, added }, index) => {
      const before = drafts[index];
      return before === undefined || invoice.lines.length === 0 ? [] : { before, invoice, added };
    });
    await this.invoices.replaceLines(renewed.map(({ invoice }) => invoice));
    const invoices = await this.issuing.finalizeAll(renewed, customers, now);
    await this.usage.record(
      ordered.map((order, index) => {
        const { usage } = factsOf(order);
        return { order, usage, invoice: decided[index]?.invoice ?? null };
      }),
      now,
    );
    const empty = drafts.filter((_, index) => decided[index]?.invoice.lines.length === 0);
    await this.invoices.deleteAll(empty.map(({ id }) => id));
    await this.outbox.recordAll(
      empty.map((draft) => toEventRecord(invoiceDeleted, { after: draft, occurredAt: now })),
    );
    return invoices;
  }
}

/** Until when the subscription of a draft has earned what it was billed in advance. */
function earnedUntilOf(times: ReadonlyMap<string, Date>): (draft: WaitingDraft) => Date {
  return ({ id, subscriptionId }) => {
    const until = times.get(subscriptionId ?? '');
    invariant(until !== undefined, `The draft ${id} bills a subscription that has a period.`);
    return until;
  };
}
