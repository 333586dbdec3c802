import { defineEvents, type EventRecord, shownEventRecord } from '../../platform/outbox';
import type { Invoice } from './domain/invoice';
import { CreditNoteDto, toCreditNoteDto } from './dto/credit-note.dto';
import { InvoiceDto, toInvoiceDto } from './dto/invoice.dto';

const invoiceEvent = defineEvents(InvoiceDto, toInvoiceDto);
const creditNoteEvent = defineEvents(CreditNoteDto, toCreditNoteDto);

export const invoiceCreated = invoiceEvent(
  'invoice.created',
  'An invoice was created; it has no number yet. A renewal draft in its grace period is finalized at `finalizes_at`.',
  {
    number: null,
    status: 'draft',
    due_at: null,
    finalized_at: null,
    finalizes_at: '2026-03-01T10:30:00.000Z',
  },
);

export const invoiceFinalized = invoiceEvent(
  'invoice.finalized',
  'An invoice got its number; the amounts that it bills never change again.',
);

export const invoicePaid = invoiceEvent('invoice.paid', 'An invoice has nothing left to pay.', {
  status: 'paid',
  amount_paid: 5_950,
  paid_at: '2026-03-01T09:30:00.000Z',
  amount_remaining: 0,
});

export const invoicePaymentFailed = invoiceEvent(
  'invoice.payment_failed',
  'A payment of an invoice failed; its amount is still to be paid. `payment.failed` has the reason, `attempt_count` the ' +
    'number of automatic charges, `next_attempt_at` the time of the next one, if any.',
  { status: 'open', attempt_count: 1, next_attempt_at: '2026-03-02T09:30:00.000Z' },
);

export const invoiceOverdue = invoiceEvent(
  'invoice.overdue',
  'An invoice is past due, and no payment of it is pending. Sent once, and not before its first automatic ' +
    'charge was tried, or dropped because there is no payment method.',
  { status: 'open', overdue_at: '2026-03-01T09:30:00.000Z' },
);

export const invoiceVoided = invoiceEvent(
  'invoice.voided',
  'An invoice was declared void: nothing is owed for it.',
  {
    status: 'void',
    voided_at: '2026-03-01T09:30:00.000Z',
    voided_by: 'key_01h455vb4pex5vsknk084sn02q',
  },
);

export const invoiceUncollectible = invoiceEvent(
  'invoice.uncollectible',
  'An invoice was written off: payment is no longer expected.',
  { status: 'uncollectible', uncollectible_at: '2026-03-01T09:30:00.000Z' },
);

export const invoiceUpdated = invoiceEvent(
  'invoice.updated',
  'The metadata changed; a payment began (`amount_pending`, `attempt_count`), paid a part or ended; a credit note, or credit of a later invoice of the subscription, lowered the amount remaining; such a credit note was voided; or `next_attempt_at` changed.',
);

export const invoiceDeleted = invoiceEvent(
  'invoice.deleted',
  'A draft was deleted; the event shows its last state. A renewal draft without lines is deleted when its grace ends.',
  { number: null, status: 'draft', due_at: null, finalized_at: null },
);

export const creditNoteIssued = creditNoteEvent(
  'credit_note.issued',
  'A part of an invoice was taken back.',
);

export const creditNoteVoided = creditNoteEvent(
  'credit_note.voided',
  'A credit note was declared void: what it took back is owed again.',
  {
    status: 'void',
    voided_at: '2026-03-01T09:30:00.000Z',
    voided_by: 'key_01h455vb4pex5vsknk084sn02q',
  },
);

/**
 * Returns the event `invoice.finalized`, and also `invoice.paid` if the invoice has nothing left to pay.
 * @param draft the invoice before it was finalized, as the API shows it
 */
export function eventsOfFinalizing(draft: InvoiceDto, invoice: Invoice): readonly EventRecord[] {
  const occurredAt = invoice.finalizedAt ?? invoice.updatedAt;
  const change = { after: toInvoiceDto(invoice), before: draft, occurredAt };
  const finalizing = shownEventRecord(invoiceFinalized, change);
  if (invoice.status !== 'paid') return [finalizing];
  return [finalizing, shownEventRecord(invoicePaid, change)];
}
