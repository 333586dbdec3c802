import { defineEvents, type EventRecord, shownEventRecord } from '../../platform/outbox';
import type { Invoice } from './domain/invoice';
import { CreditNoteDto, toCreditNoteDto } from './dto/credit-note.dto';
import { InvoiceDto, toInvoiceDto } from './dto/invoice.dto';

const invoiceEvent = defineEvents(InvoiceDto, toInvoiceDto);
const creditNoteEvent = defineEvents(CreditNoteDto, toCreditNoteDto);

export const invoiceCreated = invoiceEvent(
  'invoice.created',
  'An invoice was made; it has no number yet. The draft of a renewal that waits says until when: `finalizes_at`.',
);

export const invoiceFinalized = invoiceEvent(
  'invoice.finalized',
  'An invoice got its number; its amounts never change again.',
);

export const invoicePaid = invoiceEvent('invoice.paid', 'Nothing is left to pay of an invoice.');

export const invoicePaymentFailed = invoiceEvent(
  'invoice.payment_failed',
  'A payment of an invoice failed: what it reserved is to be paid still. `payment.failed` says why; `attempt_count` ' +
    'how often it was charged automatically, and `next_attempt_at` when it will be again, if it will.',
  { status: 'open', attempt_count: 1, next_attempt_at: '2026-03-02T09:30:00.000Z' },
);

export const invoiceOverdue = invoiceEvent(
  'invoice.overdue',
  'An invoice was due and is not paid, and no payment of it is pending. It is sent once, and for an invoice that is charged ' +
    'automatically after the first attempt.',
  { status: 'open', overdue_at: '2026-03-01T09:30:00.000Z' },
);

export const invoiceVoided = invoiceEvent(
  'invoice.voided',
  'An invoice was declared void: nothing is owed for it.',
);

export const invoiceUncollectible = invoiceEvent(
  'invoice.uncollectible',
  'An invoice was written off: what is owed for it is not expected any more.',
);

export const invoiceUpdated = invoiceEvent(
  'invoice.updated',
  'The metadata of an invoice changed, a payment of it began (`amount_pending`, `attempt_count`), paid a part or ended, a credit note or credit of a later invoice of its subscription lowered what is open of it, such a credit note was voided, or `next_attempt_at` changed.',
);

export const invoiceDeleted = invoiceEvent(
  'invoice.deleted',
  'A draft was deleted; the event shows it as it was. That of a renewal is, if it says nothing when its grace is over.',
  { number: null, status: 'draft' },
);

export const creditNoteIssued = creditNoteEvent(
  'credit_note.issued',
  'A part of an invoice was taken back.',
);

export const creditNoteVoided = creditNoteEvent(
  'credit_note.voided',
  'A credit note was declared void: what it took back is owed again.',
);

/**
 * Returns the event `invoice.finalized` and, if the invoice has nothing left to pay, `invoice.paid`.
 * @param draft the invoice before it was finalized, as the API shows it
 */
export function eventsOfFinalizing(draft: InvoiceDto, invoice: Invoice): readonly EventRecord[] {
  const change = { after: toInvoiceDto(invoice), before: draft, occurredAt: invoice.updatedAt };
  const finalizing = shownEventRecord(invoiceFinalized, change);
  if (invoice.status !== 'paid') return [finalizing];
  return [finalizing, shownEventRecord(invoicePaid, change)];
}
