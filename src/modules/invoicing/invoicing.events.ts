import { defineEvent } from '../../platform/outbox';
import { InvoiceDto, toInvoiceDto } from './dto/invoice.dto';

const shown = { dto: InvoiceDto, toDto: toInvoiceDto };

export const invoiceCreated = defineEvent({
  type: 'invoice.created',
  meaning: 'An invoice was made; it has no number yet.',
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
