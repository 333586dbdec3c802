import { groupBy } from '../../../core/grouping';

/**
 * Credit from an invoice with a negative total, which lowered the unpaid amounts of open invoices of the same
 * subscription.
 */
export interface NegativeInvoiceCredit {
  readonly subscriptionId: string;
  /** Id of the ledger transaction that posted the credit. A later transaction has a greater id. */
  readonly postedId: string;
  /** True if the credit was posted at or after the instant of the report. */
  readonly isLater: boolean;
  /**
   * Amount in minor units by which the credit lowered open invoices. Uncollectible invoices do not count, because they
   * are not receivables.
   */
  readonly amountMinor: bigint;
}

/** An invoice whose unpaid amount was lowered by credit from negative invoices. */
export interface LoweredInvoice {
  readonly id: string;
  readonly subscriptionId: string;
  /** Id of the ledger transaction that posted the finalization. */
  readonly finalizedBy: string;
  /** Id of the ledger transaction that posted the write-off; null: not written off. */
  readonly writtenOffBy: string | null;
  /** Amount in minor units by which credit from negative invoices reduced what is to be paid for this invoice. */
  readonly loweredMinor: bigint;
}

/**
 * Returns how much each invoice was lowered by credit that was posted at or after the instant of the report
 * (`isLater`). Amounts are in minor units, by invoice id. The ledger has only the total of each credit, so this
 * function splits the total. A credit lowered the invoices of its subscription that were open when it was posted,
 * oldest invoice first.
 * @param credits all credits of the subscriptions, in the sequence of posting
 * @param invoices all lowered invoices, oldest first
 */
export function creditedLater(
  credits: readonly NegativeInvoiceCredit[],
  invoices: readonly LoweredInvoice[],
): ReadonlyMap<string, bigint> {
  const bySubscription = groupBy(invoices, ({ subscriptionId }) => subscriptionId);
  const unassigned = new Map(invoices.map(({ id, loweredMinor }) => [id, loweredMinor]));
  const later = new Map<string, bigint>();
  for (const credit of credits) {
    let left = credit.amountMinor;
    for (const invoice of bySubscription.get(credit.subscriptionId) ?? []) {
      if (!wasOpen(invoice, credit)) continue;
      const unassignedMinor = unassigned.get(invoice.id) ?? 0n;
      const taken = unassignedMinor < left ? unassignedMinor : left;
      left -= taken;
      unassigned.set(invoice.id, unassignedMinor - taken);
      if (credit.isLater) later.set(invoice.id, (later.get(invoice.id) ?? 0n) + taken);
    }
  }
  return later;
}

function wasOpen(
  { finalizedBy, writtenOffBy }: LoweredInvoice,
  { postedId }: NegativeInvoiceCredit,
): boolean {
  return finalizedBy < postedId && (writtenOffBy === null || writtenOffBy > postedId);
}
