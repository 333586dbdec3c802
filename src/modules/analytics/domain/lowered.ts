import { groupBy } from '../../../core/grouping';

/** Credit of a negative invoice that lowered open invoices of its subscription. */
export interface NegativeInvoiceCredit {
  readonly subscriptionId: string;
  /** Transaction that posted it. Ids sort by creation. */
  readonly postedId: string;
  readonly isLater: boolean;
  /** Amount taken off open invoices. Does not include what it took off uncollectible invoices, which are no receivables. */
  readonly amountMinor: bigint;
}

/** An invoice that the credit of negative invoices lowered. */
export interface LoweredInvoice {
  readonly id: string;
  readonly subscriptionId: string;
  /** Transactions that posted its finalization and its write-off; null: not written off. */
  readonly finalizedBy: string;
  readonly writtenOffBy: string | null;
  /** Amount that all credits together took off. */
  readonly loweredMinor: bigint;
}

/**
 * Returns how much the credits after an instant took off each invoice, in minor units by invoice id. A credit lowered the
 * invoices of its subscription that were open when it was posted, oldest first; the ledger has only its total.
 *
 * @param credits all credits of the subscriptions, in posting sequence
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
