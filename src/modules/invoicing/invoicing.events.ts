import { defineEvent } from '../../platform/outbox';
import { CreditNoteDto, toCreditNoteDto } from './dto/credit-note.dto';
import { InvoiceDto, toInvoiceDto } from './dto/invoice.dto';

const shown = { dto: InvoiceDto, toDto: toInvoiceDto };

export const invoiceCreated = defineEvent({
  type: 'invoice.created',
  meaning:
    'An invoice was made; it has no number yet. The draft of a renewal that waits says until when: `finalizes_at`.',
  ...shown,
});

export const invoiceFinalized = defineEvent({
  type: 'invoice.finalized',
  meaning: 'An invoice got its number; its amounts never change again.',
  ...shown,
});

export const invoicePaid = defineEvent({
  type: 'invoice.paid',
  meaning: 'Nothing is left to pay of an invoice.',
  ...shown,
});

export const invoicePaymentFailed = defineEvent({
  type: 'invoice.payment_failed',
  meaning:
    'A payment of an invoice failed: what it reserved is to be paid still. `payment.failed` says why; `attempt_count` ' +
    'how often it was charged automatically, and `next_attempt_at` when it will be again, if it will.',
  example: { status: 'open', attempt_count: 1, next_attempt_at: '2026-03-02T09:30:00.000Z' },
  ...shown,
});

export const invoiceOverdue = defineEvent({
  type: 'invoice.overdue',
  meaning:
    'An invoice was due and is not paid, and no payment of it is pending. It is sent once, and for an invoice that is charged ' +
    'automatically after the first attempt.',
  example: { status: 'open', overdue_at: '2026-03-01T09:30:00.000Z' },
  ...shown,
});

export const invoiceVoided = defineEvent({
  type: 'invoice.voided',
  meaning: 'An invoice was declared void: nothing is owed for it.',
  ...shown,
});

export const invoiceUncollectible = defineEvent({
  type: 'invoice.uncollectible',
  meaning: 'An invoice was written off: what is owed for it is not expected any more.',
  ...shown,
});

export const invoiceUpdated = defineEvent({
  type: 'invoice.updated',
  meaning:
    'The metadata of an invoice changed, or credit of a later invoice of its subscription lowered what is open of it.',
  ...shown,
});

export const invoiceDeleted = defineEvent({
  type: 'invoice.deleted',
  meaning:
    'A draft was deleted; the event shows it as it was. That of a renewal is, if it says nothing when its grace is over.',
  example: { number: null, status: 'draft' },
  ...shown,
});

const noteShown = { dto: CreditNoteDto, toDto: toCreditNoteDto };

export const creditNoteIssued = defineEvent({
  type: 'credit_note.issued',
  meaning: 'A part of an invoice was taken back.',
  ...noteShown,
});

export const creditNoteVoided = defineEvent({
  type: 'credit_note.voided',
  meaning: 'A credit note was declared void: what it took back is owed again.',
  ...noteShown,
});
