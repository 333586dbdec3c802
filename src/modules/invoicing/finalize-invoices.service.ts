import { Injectable } from '@nestjs/common';
import { changedAt } from '../../core/next-version';
import { Database } from '../../platform/database';
import { invalidTransition } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox, toEventRecord } from '../../platform/outbox';
import { type Customer, CustomersService } from '../customers';
import { BillingContextService } from './billing-context.service';
import { timeZoneOf } from './domain/decide-coupons';
import { decideInSequence } from './domain/decide-in-sequence';
import { reassembleDraft } from './domain/decide-invoice';
import { mayInvoiceBecome } from './domain/finalize';
import { isWaiting, type WaitingDraft } from './domain/grace';
import type { Invoice } from './domain/invoice';
import {
  type EarnedUntil,
  earnedUntilOf,
  requestOf,
  recalculateDraft,
} from './domain/renewal-draft';
import type { GivenBackTerms } from './domain/billing-request';
import { InvoicesRepository } from './invoices.repository';
import { invoiceEmpty } from './invoicing.errors';
import { invoiceDeleted } from './invoicing.events';
import { FinalizationService } from './finalization.service';
import { assertNotTooLarge } from './issue-invoice.service';
import { RenewalDraftsRepository } from './renewal-drafts.repository';
import { UsageReadingsService } from './usage-readings.service';

/** Finalizes one-off and renewal drafts. Renewal drafts are calculated again, with the usage accepted until now. */
@Injectable()
export class FinalizeInvoicesService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly waiting: RenewalDraftsRepository,
    private readonly customers: CustomersService,
    private readonly contexts: BillingContextService,
    private readonly usage: UsageReadingsService,
    private readonly finalization: FinalizationService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Finalizes a draft in the caller's transaction, which has locked it. Calculates its amounts for the last time, with
   * the present usage, taxes and credit, and gives it the next number.
   * @param earnedUntil by subscription id: time until which the revenue of charges in advance is earned
   * @param givenBack late usage, which the draft may bill, and refunds, which limit what the draft can credit of
   *   earlier invoices
   * @throws {ProblemError} `invalid_transition`, `invoice_empty`, `invoice_too_large`
   */
  async finalize(
    before: Invoice,
    customer: Customer,
    earnedUntil: EarnedUntil,
    givenBack: GivenBackTerms,
    now: Date,
  ): Promise<Invoice> {
    if (!mayInvoiceBecome(before, 'open')) {
      throw invalidTransition('invoice', before.status, 'open');
    }
    if (!isWaiting(before)) return this.finalizeOneOff(before, customer, now);
    const [invoice] = await this.finalizeAll([before], earnedUntil, givenBack, now);
    if (invoice === undefined) throw invoiceEmpty(before.id);
    return invoice;
  }

  /** Locks the given drafts, and returns those that are renewal drafts and not finalized yet. */
  lockWaiting(ids: readonly string[]): Promise<readonly WaitingDraft[]> {
    return this.waiting.lock(ids);
  }

  /** Locks the renewal drafts of subscriptions, and returns them in the order in which their grace periods end. */
  async lockWaitingOf(subscriptionIds: readonly string[]): Promise<readonly WaitingDraft[]> {
    if (subscriptionIds.length === 0) return [];
    return this.waiting.lock(await this.waiting.ofSubscriptions(subscriptionIds));
  }

  private async finalizeOneOff(before: Invoice, customer: Customer, now: Date): Promise<Invoice> {
    const request = { ...before, lines: [], billingPeriod: null };
    const draft = reassembleDraft(before, await this.contexts.load(request, customer, now));
    await this.invoices.replaceLines([draft]);
    return this.finalization.finalize(draft, before, customer, now);
  }

  /**
   * Finalizes renewal drafts of different subscriptions, in the given order. Deletes drafts without lines. Runs in the
   * caller's transaction, which has locked the subscriptions and the drafts.
   */
  async finalizeAll(
    drafts: readonly WaitingDraft[],
    earnedUntil: EarnedUntil,
    givenBack: GivenBackTerms,
    now: Date,
  ): Promise<readonly Invoice[]> {
    this.database.requireTransaction();
    if (drafts.length === 0) return [];
    const requested = drafts.map((draft) => ({
      ...requestOf(draft),
      ...givenBack,
      draft,
      draftCoupons: draft.coupons,
      // The draft has no lines yet if its usage arrived within the grace.
      timeZone: timeZoneOf(
        draft.requestedLines.flatMap((line) => ('timeZone' in line ? [line] : [])),
      ),
    }));
    const customers = await this.customers.getAllForHistory(
      drafts.map(({ customerId }) => customerId),
    );
    const contextOf = await this.contexts.loadAll(requested, [...customers.values()], now);
    const decided = decideInSequence(
      requested,
      contextOf,
      (request, context) =>
        recalculateDraft(
          request.draft,
          request,
          context,
          () => newId('il'),
          earnedUntilOf(request.draft, earnedUntil),
          now,
        ),
      () => newId('crd'),
      await this.finalization.owedBySubscription(requested),
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
    const invoices = await this.finalization.finalizeAll(renewed, customers, now, () =>
      this.usage.record(
        requested.map((request, index) => {
          return { request, context: contextOf(request), invoice: decided[index]?.invoice ?? null };
        }),
        now,
      ),
    );
    const empty = drafts.filter((_, index) => decided[index]?.invoice.lines.length === 0);
    await this.invoices.deleteAll(empty.map(({ id }) => id));
    await this.outbox.recordAll(
      empty.map((draft) =>
        toEventRecord(invoiceDeleted, { after: draft, occurredAt: changedAt(now, draft) }),
      ),
    );
    return invoices;
  }
}
