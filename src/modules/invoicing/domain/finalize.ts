import { invariant } from '../../../core/invariant';
import { changedAt, updatedAtAfter } from '../../../core/next-version';
import { mayBecome } from '../../../core/states';
import { isWaiting } from './grace';
import { firstAttemptAt } from './invoice-collection';
import type { InvoiceSnapshots } from './invoice-snapshots';
import { INVOICE_TRANSITIONS, type Invoice, type InvoiceStatus } from './invoice';

const DAY_MS = 86_400_000;

/**
 * @param now current time. If the last change of the draft is up to a minute later, the invoice is finalized at the
 *   time of that change; see {@link changedAt}
 */
export function finalized(
  draft: Invoice,
  number: string,
  snapshots: InvoiceSnapshots,
  now: Date,
): Invoice {
  invariant(draft.status === 'draft', 'only a draft is finalized');
  const isPaid = leavesNothingToPay(draft);
  const finalizedAt = changedAt(now, draft);
  return {
    ...draft,
    status: isPaid ? 'paid' : 'open',
    number,
    snapshots,
    finalizedAt,
    dueAt: new Date(finalizedAt.getTime() + draft.daysUntilDue * DAY_MS),
    paidAt: isPaid ? finalizedAt : null,
    collectAt: isPaid ? null : firstAttemptAt(draft, finalizedAt),
    updatedAt: updatedAtAfter(draft, finalizedAt),
  };
}

/**
 * Returns true if a draft would be paid as soon as it is finalized. False for a draft in its grace period, because it
 * can get further lines.
 */
export function leavesNothingToPay(draft: Invoice): boolean {
  return draft.amountDue === 0n && !isWaiting(draft);
}

export function mayInvoiceBecome(invoice: Pick<Invoice, 'status'>, to: InvoiceStatus): boolean {
  return mayBecome(INVOICE_TRANSITIONS, invoice.status, to);
}
