import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { lesser } from '../../core/money';
import { changedAt } from '../../core/next-version';
import { Outbox } from '../../platform/outbox';
import { CreditGrantsRepository } from './credit-grants.repository';
import type { DecidedInvoice, OwedBySubscription } from './domain/decide-in-sequence';
import { amountRemaining, type Invoice } from './domain/invoice';
import { withCredit } from './domain/invoice-payment';
import type { BillingRequest } from './domain/billing-request';
import { DueInvoicesRepository } from './due-invoices.repository';
import type { UsedCredit } from './invoice-postings';
import { invoicePaid, invoiceUpdated } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';

@Injectable()
export class LowerOpenInvoicesService {
  constructor(
    private readonly due: DueInvoicesRepository,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Uses the credit from each negative invoice to lower other invoices of its subscription: first the open ones, then
   * the uncollectible ones, each from oldest to newest. The rest of the credit stays in the credit balance. Runs in the
   * caller's transaction, which has locked the subscriptions.
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
      const usedAt = changedAt(now, invoice, ...owed);
      const ofOpen = await this.lowerInSequence(open, available, usedAt);
      const recovered = await this.lowerInSequence(uncollectible, available - ofOpen, usedAt);
      await this.grants.use(added.id, ofOpen + recovered);
      used.push({ invoice, amountMinor: ofOpen + recovered, recoveredMinor: recovered, usedAt });
    }
    return used;
  }

  /** Lowers the amounts owed on locked invoices, in order, by at most `available` in all. Returns the amount used. */
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
   * Returns a function that maps an invoice to the amount that its subscription owes on earlier invoices. Credit from a
   * negative invoice lowers this amount first. Only the rest can be used by other invoices of the customer in the same
   * transaction. For a customer with a single request, there is no other invoice, and the function returns 0.
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

  private async lower(before: Invoice, available: bigint, now: Date): Promise<bigint> {
    const amount = lesser(available, amountRemaining(before));
    if (amount <= 0n) return 0n;
    const after = withCredit(before, amount, now);
    await this.invoices.update(after);
    const event = after.status === before.status ? invoiceUpdated : invoicePaid;
    await this.outbox.record(event, { after, before, occurredAt: now });
    return amount;
  }
}
