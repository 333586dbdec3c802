import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { lesser } from '../../core/money';
import { nextVersion } from '../../core/next-version';
import { Outbox } from '../../platform/outbox';
import { CreditGrantsRepository } from './credit-grants.repository';
import type { DecidedInvoice, OwedBySubscription } from './domain/decide-in-sequence';
import { amountRemaining, type Invoice } from './domain/invoice';
import { closeCollectionAt } from './domain/invoice-collection';
import type { BillingRequest } from './domain/billing-request';
import { DueInvoicesRepository } from './due-invoices.repository';
import type { UsedCredit } from './invoice-postings';
import { invoicePaid, invoiceUpdated } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';

/** Lowers what a subscription owes on open and uncollectible invoices by the credit from its negative invoices. */
@Injectable()
export class LowerOpenInvoicesService {
  constructor(
    private readonly due: DueInvoicesRepository,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Uses the credit from each negative invoice to pay other invoices of its subscription: first open invoices, then
   * uncollectible invoices, and in both cases the oldest first. The rest of the credit stays in the credit
   * balance. Runs in the caller's transaction, which has locked the subscription.
   * @returns the used credit, which the caller posts after the negative invoices
   */
  async lowerAll(drafts: readonly DecidedInvoice[], now: Date): Promise<readonly UsedCredit[]> {
    const used: UsedCredit[] = [];
    for (const { invoice, added } of drafts) {
      if (added === null || invoice.subscriptionId === null) continue;
      const ids = await this.due.lockOwedOf(invoice.subscriptionId);
      if (ids.length === 0) continue;
      const available = (await this.grants.lockOf(invoice.id))?.remaining ?? 0n;
      const owed = await this.invoices.findAll(ids);
      const open = owed.filter(({ status }) => status === 'open');
      const uncollectible = owed.filter(({ status }) => status === 'uncollectible');
      const ofOpen = await this.lowerInSequence(open, available, now);
      const recovered = await this.lowerInSequence(uncollectible, available - ofOpen, now);
      await this.grants.use(added.id, ofOpen + recovered);
      used.push({ invoice, amountMinor: ofOpen + recovered, recoveredMinor: recovered });
    }
    return used;
  }

  /**
   * Lowers the amounts owed on locked invoices, one after the other, by at most `available` in all. Returns the sum
   * used.
   */
  private async lowerInSequence(
    owed: readonly Invoice[],
    available: bigint,
    now: Date,
  ): Promise<bigint> {
    let left = available;
    for (const invoice of owed) left -= await this.lower(invoice, left, now);
    return available - left;
  }

  /**
   * Returns a function from a subscription to the amount that it owes on earlier invoices. Credit of a negative invoice
   * pays this amount first; other invoices of the customer in the same commit can use only what is left of the credit.
   * For a customer with a single request, the function returns 0: the amount is not needed, because the commit contains
   * no other invoice of the customer.
   */
  async owedBySubscription(
    requests: readonly Pick<BillingRequest, 'customerId' | 'subscriptionId'>[],
  ): Promise<OwedBySubscription> {
    const customers = groupBy(requests, ({ customerId }) => customerId);
    const shared = [...customers.values()].filter(({ length }) => length > 1).flat();
    const ids = shared.flatMap(({ subscriptionId }) => subscriptionId ?? []);
    const open: ReadonlyMap<string, bigint> =
      ids.length === 0 ? new Map<string, bigint>() : await this.due.owedAmountsOf(ids);
    return ({ subscriptionId }) => open.get(subscriptionId ?? '') ?? 0n;
  }

  /** Lowers the amount owed on a locked invoice by at most `available`. Returns the amount used. */
  private async lower(before: Invoice, available: bigint, now: Date): Promise<bigint> {
    const remaining = amountRemaining(before);
    const amount = lesser(available, remaining);
    if (amount <= 0n) return 0n;
    const lowered = nextVersion(before, now, { amountCredited: before.amountCredited + amount });
    const isPaid = amount === remaining;
    const after: Invoice = isPaid
      ? { ...lowered, status: 'paid', paidAt: now, collectAt: closeCollectionAt(before, now) }
      : lowered;
    await this.invoices.update(after);
    const event = isPaid ? invoicePaid : invoiceUpdated;
    await this.outbox.record(event, { after, before, occurredAt: now });
    return amount;
  }
}
