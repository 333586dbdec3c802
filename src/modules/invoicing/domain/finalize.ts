import { invariant } from '../../../core/invariant';
import { mayBecome } from '../../../core/states';
import { firstAttemptAt } from './invoice-collection';
import type { Parties } from './parties';
import { INVOICE_TRANSITIONS, type Invoice, type InvoiceStatus } from './invoice';

const DAY_MS = 86_400_000;

/** What finalising makes of a draft: open, or paid where nothing is left to pay. */
export function finalized(draft: Invoice, number: string, parties: Parties, now: Date): Invoice {
  invariant(draft.status === 'draft', 'only a draft is finalised');
  const isPaid = draft.amountDue === 0n;
  return {
    ...draft,
    status: isPaid ? 'paid' : 'open',
    number,
    parties,
    finalizedAt: now,
    dueAt: new Date(now.getTime() + draft.daysUntilDue * DAY_MS),
    paidAt: isPaid ? now : null,
    collectAt: isPaid ? null : firstAttemptAt(draft, now),
    updatedAt: now,
  };
}

/** Whether the table lets the invoice become this. */
export function mayInvoiceBecome(invoice: Pick<Invoice, 'status'>, to: InvoiceStatus): boolean {
  return mayBecome(INVOICE_TRANSITIONS, invoice.status, to);
}
