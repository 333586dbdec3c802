import type { TermsFault } from '../../core/terms-fault';
import { defineNotFound, defineProblem } from '../../platform/errors';
import { explainLimit, type NoteLimit } from './domain/note-limit';

/** Returns a function that describes a refusal because of the status of an invoice. */
const refusedStatus = (reason: string) => (id: string, status: string) => ({
  detail: `The invoice ${id} is ${status}${reason}`,
  extensions: { invoice_status: status },
});

export const invoiceNotFound = defineNotFound('invoice_not_found', 'an invoice');

export const invoiceLineNotFound = defineProblem({
  code: 'invoice_line_not_found',
  kind: 'not_found',
  title: 'The invoice has no such line',
  meaning: 'The id in the path is not the id of a line of this invoice.',
  detail: (id: string) => `The invoice has no line ${JSON.stringify(id)}.`,
});

export const invoiceTooLarge = defineProblem({
  code: 'invoice_too_large',
  kind: 'rule_broken',
  title: 'The amounts of the invoice are too large',
  meaning: 'An amount, or a sum of lines, would be beyond 9007199254740991 minor units.',
  detail: () =>
    'An amount of the invoice would be larger than JSON can represent exactly (9007199254740991).',
});

export const creditBalanceTooLarge = defineProblem({
  code: 'credit_balance_too_large',
  kind: 'conflict',
  title: 'The credit balance is too large for JSON',
  meaning:
    'The balance is beyond 9007199254740991 minor units. `GET /v1/ledger/accounts?customer_id=` shows it as a decimal string.',
  detail: (customerId: string) =>
    `The credit balance of ${customerId} is larger than JSON can represent exactly (9007199254740991). Read /v1/ledger/accounts?customer_id=${customerId} instead.`,
});

export const invoiceCredited = defineProblem({
  code: 'invoice_credited',
  kind: 'conflict',
  title: 'Credit was given for lines of the invoice',
  meaning:
    'A later invoice or a credit note gave credit for lines of this one, so it cannot be voided. Void its credit notes first. A credit on a later invoice remains until that invoice is void.',
  detail: (id: string) => `Lines of the invoice ${id} were credited, so it cannot be voided.`,
});

export const invoiceNotDraft = defineProblem({
  code: 'invoice_not_draft',
  kind: 'conflict',
  title: 'The invoice is not a draft',
  meaning: 'Only a draft can be deleted. A finalized invoice can be voided.',
  occurrence: refusedStatus('. Only a draft can be deleted.'),
});

export const invoiceBillsPeriod = defineProblem({
  code: 'invoice_bills_period',
  kind: 'conflict',
  title: 'The draft bills a period of a subscription',
  meaning:
    'The draft of a renewal cannot be deleted: nothing else would bill its period. Finalize it, and void it if nothing is owed.',
  detail: (id: string) =>
    `The draft ${id} bills a period of a subscription and cannot be deleted. Finalize it.`,
});

export const invoiceEmpty = defineProblem({
  code: 'invoice_empty',
  kind: 'conflict',
  title: 'The draft has no lines',
  meaning:
    'Nothing was used and nothing is due, so there is nothing to finalize. A draft that still has no lines at `finalizes_at` is deleted then.',
  detail: (id: string) => `The draft ${id} has no lines, so there is nothing to finalize.`,
});

export const invoiceNotPayable = defineProblem({
  code: 'invoice_not_payable',
  kind: 'conflict',
  title: 'The invoice cannot be paid',
  meaning:
    'Only an invoice that is open or uncollectible can be paid: this one is a draft, paid or void.',
  occurrence: refusedStatus(' and cannot be paid.'),
});

export const invoicePaymentPending = defineProblem({
  code: 'invoice_payment_pending',
  kind: 'conflict',
  isTemporary: true,
  title: 'A payment of the invoice is pending',
  meaning:
    'All that remains to be paid is reserved by payments whose outcome is not known yet. Try again when they have ended; `GET /v1/payments?invoice_id=` lists them.',
  detail: (id: string) =>
    `Pending payments reserve all that is left to pay of the invoice ${id}. Try again when they have ended.`,
});

export const paymentExceedsInvoice = defineProblem({
  code: 'payment_exceeds_invoice',
  kind: 'rule_broken',
  title: 'The payment exceeds what is left to pay',
  meaning:
    'The amount exceeds `payable_amount`: what is not yet paid, credited or reserved by pending payments.',
  occurrence: (payable: bigint) => ({
    detail: `Only ${payable} minor units of the invoice can be paid.`,
    extensions: { payable_amount: Number(payable) },
    errors: [
      { pointer: '/amount', code: 'exceeds_invoice', message: `must be at most ${payable}` },
    ],
  }),
});

export const invoicePartlyPaid = defineProblem({
  code: 'invoice_partly_paid',
  kind: 'conflict',
  title: 'A part of the invoice was paid',
  meaning:
    'A partly paid invoice cannot be voided. Credit the rest with a credit note, or write it off. If its ' +
    'subscription is `incomplete` and waits for this payment, cancel the subscription: the invoice becomes void, and the payment becomes credit.',
  detail: (id: string) => `A part of the invoice ${id} was paid, so it cannot be voided.`,
});

export const invoiceNotOwed = defineProblem({
  code: 'invoice_not_owed',
  kind: 'conflict',
  title: 'The invoice is not owed yet',
  meaning:
    'The subscription of the invoice is `incomplete` and waits for this payment, so there is no debt to write off. Cancel the ' +
    'subscription: the invoice becomes void, and what was paid becomes credit.',
  detail: (id: string) =>
    `The invoice ${id} is the first payment of an incomplete subscription, so it cannot be written off. Cancel the subscription.`,
});

export const invoiceNotVoid = defineProblem({
  code: 'invoice_not_void',
  kind: 'conflict',
  title: 'The invoice is not void',
  meaning: 'Only a void invoice can be regenerated.',
  occurrence: refusedStatus('. Only a void invoice can be regenerated.'),
});

export const invoiceRegenerated = defineProblem({
  code: 'invoice_reissued',
  kind: 'conflict',
  title: 'The invoice was regenerated already',
  meaning:
    'A void invoice can be regenerated once. `reissued_as` is the new invoice; if that one is void as well, regenerate that one.',
  occurrence: (id: string, newId: string) => ({
    detail: `The invoice ${id} was already regenerated as ${newId}.`,
    extensions: { reissued_as: newId },
  }),
});

export const invoiceOvertaken = defineProblem({
  code: 'invoice_overtaken',
  kind: 'conflict',
  title: 'The charges of the invoice have changed or are no longer owed',
  meaning:
    'The invoice cannot be regenerated. An item that it billed in advance was changed before the end of its period, or ended then and its unused part was credited; or nothing is left to bill or credit; or its subscription never began. Bill what is owed with a one-off invoice.',
  detail: (id: string) =>
    `The invoice ${id} cannot be regenerated: its charges have changed or are no longer owed. Create a one-off invoice for what is owed.`,
});

export const creditNoteNotFound = defineNotFound('credit_note_not_found', 'a credit note');

export const invoiceNotCreditable = defineProblem({
  code: 'invoice_not_creditable',
  kind: 'conflict',
  title: 'The invoice cannot be credited',
  meaning: 'Only an invoice that is open or paid can be credited.',
  occurrence: refusedStatus(' and cannot be credited.'),
});

export const creditExceedsLine = defineProblem({
  code: 'credit_exceeds_line',
  kind: 'rule_broken',
  title: 'The credit exceeds what is left of the line',
  meaning:
    'A credit note takes at most `creditable_amount` of a line, without tax: its amount less its discounts, its share of the reduction by a `maximum_amount`, earlier credit notes, and what later invoices credited or corrected.',
  occurrence: (pointer: string, creditable: bigint) => ({
    detail: `${pointer} is more than the ${creditable} minor units that are left of the line${creditable === 0n ? ', or the note names the line twice' : ''}.`,
    errors: [{ pointer, code: 'exceeds_line', message: 'is more than is left of the line' }],
    extensions: { creditable_amount: Number(creditable) },
  }),
});

export const creditTakesNothing = defineProblem({
  code: 'credit_takes_nothing',
  kind: 'rule_broken',
  title: 'A credit of 0 takes nothing from the line',
  meaning:
    'An `amount` of 0 is only for a line that has only tax left, which no tax below zero uses up, and is named once. `creditable_amount` is left.',
  occurrence: (pointer: string, creditable: bigint) => ({
    detail:
      creditable === 0n
        ? `${pointer} is 0, but nothing of the line can be credited, or the note names the line twice.`
        : `${pointer} is 0, which is only for a line of which nothing but tax is left. ${creditable} minor units without tax are left of this line.`,
    errors: [{ pointer, code: 'takes_nothing', message: 'takes nothing of the line' }],
    extensions: { creditable_amount: Number(creditable) },
  }),
});

function adviceOn({ creditableTotalMinor, refundedMinor, lostCreditMinor }: NoteLimit): string {
  const lower =
    creditableTotalMinor > 0n
      ? `Lower the lines until they total at most ${creditableTotalMinor} with tax.`
      : `Nothing is left to ${lostCreditMinor > 0n ? 'refund' : 'credit'}.`;
  if (lostCreditMinor > 0n) {
    return `${lower} A note with settle "credit" can be larger: the credit that it gives then covers what was refunded or lost.`;
  }
  return refundedMinor > 0n
    ? `${lower} To document a refund that was made, issue the note with settle "refund".`
    : lower;
}

export const creditGivenBackAlready = defineProblem({
  code: 'credit_given_back_already',
  kind: 'rule_broken',
  title: 'The amount was given back already',
  meaning:
    'The note exceeds what is left of the invoice. Its own negative lines, later invoices, other credit notes, refunds and lost disputes gave the rest back. The detail has the amounts. `creditable_total` is the largest total, with tax, of a further note: lower the lines until they fit. To document a refund that was made, issue the note with `settle: refund`.',
  occurrence: (pointer: string, invoiceId: string, total: bigint, limit: NoteLimit) => ({
    detail: `The note would be ${total} minor units with tax, but only ${limit.creditableTotalMinor} of the invoice ${invoiceId} can still be credited: ${explainLimit(limit)}. ${adviceOn(limit)}`,
    extensions: { creditable_total: Number(limit.creditableTotalMinor) },
    errors: [
      {
        pointer,
        code: 'given_back_already',
        message: `must total at most ${limit.creditableTotalMinor}`,
      },
    ],
  }),
});

export const creditNoteCorrected = defineProblem({
  code: 'credit_note_corrected',
  kind: 'conflict',
  title: 'A later invoice took back a part of the lines',
  meaning:
    'A later invoice took back unused time or usage of a line that the note credits, and gave back less because of it. Instead of voiding the note, bill the part of it that is owed on a new invoice.',
  detail: (id: string, invoiceId: string) =>
    `The invoice ${invoiceId} took back unused time or usage of lines of the credit note ${id}, and gave back less because of it. Instead of voiding the note, bill the part of it that is owed on a new invoice.`,
});

export const creditNoteSettled = defineProblem({
  code: 'credit_note_settled',
  kind: 'conflict',
  title: 'The credit note was used',
  meaning:
    'The credit that the note gave was used, its refund is pending or has succeeded, or it lowered an invoice that is no longer open.',
  detail: (id: string) =>
    `The credit note ${id} cannot be voided: its credit was used, its refund is pending or has succeeded, or it lowered an invoice that is no longer open.`,
});

export const simulatedPriceUnmatched = defineProblem({
  code: 'simulated_price_unmatched',
  kind: 'rule_broken',
  title: 'A simulated price replaces no price of the plan',
  meaning:
    'Each simulated price replaces prices of the plan that have its name, meter, `by_group` and `timing`. Name only customers and times that were billed at such prices. Names must not repeat. Only a flat price can replace a flat one.',
  occurrence: (faults: readonly TermsFault[]) => ({
    detail: faults.map(({ pointer, message }) => `${pointer} ${message}`).join('; '),
    errors: faults.map((fault) => ({ ...fault, code: 'unmatched' })),
  }),
});

export const invoiceLineWithoutUsage = defineProblem({
  code: 'invoice_line_without_usage',
  kind: 'not_found',
  title: 'The line bills no usage',
  meaning: 'Only a line of the type `usage` has usage events.',
  detail: (id: string) => `The line ${id} bills no usage.`,
});
