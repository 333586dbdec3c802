import { defineNotFound, defineProblem } from '../../platform/errors';

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
  meaning: 'An amount, or the sum of the lines, would be beyond 9007199254740991 minor units.',
  detail: () => 'An amount of the invoice would be beyond what JSON can carry.',
});

export const creditBalanceTooLarge = defineProblem({
  code: 'credit_balance_too_large',
  kind: 'conflict',
  title: 'The credit balance is too large for JSON',
  meaning:
    'The balance is beyond 9007199254740991 minor units. `GET /v1/ledger/accounts?customer_id=` shows it as a decimal string.',
  detail: (customerId: string) =>
    `The credit balance of ${customerId} is beyond what JSON can carry. Read /v1/ledger/accounts?customer_id=${customerId} instead.`,
});

export const invoiceCredited = defineProblem({
  code: 'invoice_credited',
  kind: 'conflict',
  title: 'Credit was given for lines of the invoice',
  meaning:
    'A later invoice or a credit note gave credit for lines of this one, so it cannot be voided. Void a credit note first; what a later invoice credited stands.',
  detail: (id: string) => `Lines of the invoice ${id} were credited since.`,
});

export const invoiceNotDraft = defineProblem({
  code: 'invoice_not_draft',
  kind: 'conflict',
  title: 'The invoice is not a draft',
  meaning: 'Only a draft can be deleted. An invoice that has its number is voided.',
  occurrence: (id: string, status: string) => ({
    detail: `The invoice ${id} is ${status}.`,
    extensions: { invoice_status: status },
  }),
});

export const invoiceBillsPeriod = defineProblem({
  code: 'invoice_bills_period',
  kind: 'conflict',
  title: 'The draft bills a period of a subscription',
  meaning:
    'The draft of a renewal cannot be deleted: nothing else would bill its period. Finalize it, and void it where nothing is owed.',
  detail: (id: string) => `The draft ${id} bills a period of a subscription.`,
});

export const invoiceEmpty = defineProblem({
  code: 'invoice_empty',
  kind: 'conflict',
  title: 'The draft says nothing',
  meaning:
    'Nothing was used and nothing is due for that, so that there is nothing to finalize. A draft that still says nothing at `finalizes_at` is deleted then.',
  detail: (id: string) => `The draft ${id} has nothing to bill.`,
});

export const invoiceNotPayable = defineProblem({
  code: 'invoice_not_payable',
  kind: 'conflict',
  title: 'The invoice cannot be paid',
  meaning:
    'Only an invoice that is open or uncollectible can be paid: this one is a draft, paid or void.',
  occurrence: (id: string, status: string) => ({
    detail: `The invoice ${id} is ${status}.`,
    extensions: { invoice_status: status },
  }),
});

export const invoicePaymentPending = defineProblem({
  code: 'invoice_payment_pending',
  kind: 'conflict',
  title: 'A payment of the invoice is pending',
  meaning:
    'All that remains to be paid is reserved by payments whose outcome is not known yet. Try again when they have ended; `GET /v1/payments?invoice_id=` lists them.',
  detail: (id: string) => `All that remains of the invoice ${id} is being paid.`,
});

export const paymentExceedsInvoice = defineProblem({
  code: 'payment_exceeds_invoice',
  kind: 'rule_broken',
  title: 'More than the invoice has left to pay',
  meaning:
    'The amount is more than what is neither paid, credited nor reserved by pending payments: `payable_amount`.',
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
    'An invoice that money was paid for cannot be voided. Take the rest back with a credit note, or write it off. Where its ' +
    'subscription is `incomplete` and waits for it, cancel that: the invoice is void, and what was paid is credit.',
  detail: (id: string) => `A part of the invoice ${id} was paid.`,
});

export const invoiceNotVoid = defineProblem({
  code: 'invoice_not_void',
  kind: 'conflict',
  title: 'The invoice is not void',
  meaning: 'Only a void invoice can be regenerated.',
  occurrence: (id: string, status: string) => ({
    detail: `The invoice ${id} is ${status}.`,
    extensions: { invoice_status: status },
  }),
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
  title: 'What the invoice billed is no longer what is owed',
  meaning:
    'Something that the invoice billed in advance was changed since, or ended with credit, before its period was over, or what it credited is billed no more, or other invoices billed its usage, or its subscription never began without its payment. Bill what is owed with a one-off invoice.',
  detail: (id: string) => `What the invoice ${id} billed was changed since.`,
});

export const creditNoteNotFound = defineNotFound('credit_note_not_found', 'a credit note');

export const invoiceNotCreditable = defineProblem({
  code: 'invoice_not_creditable',
  kind: 'conflict',
  title: 'The invoice cannot be credited',
  meaning: 'Only an invoice that is open or paid can be credited.',
  occurrence: (id: string, status: string) => ({
    detail: `The invoice ${id} is ${status}.`,
    extensions: { invoice_status: status },
  }),
});

export const creditExceedsLine = defineProblem({
  code: 'credit_exceeds_line',
  kind: 'rule_broken',
  title: 'The line does not hold that much',
  meaning:
    'A credit note takes at most what is left of a line after its discounts and earlier credit, without tax: `creditable_amount`. What a maximum took, and what a later invoice credited or corrected, is not there to be credited again.',
  occurrence: (pointer: string, creditable: bigint) => ({
    detail: `${pointer} is more than the ${creditable} that may be credited.`,
    errors: [{ pointer, code: 'exceeds_line', message: 'is more than the line holds' }],
    extensions: { creditable_amount: Number(creditable) },
  }),
});

export const creditGivenBackAlready = defineProblem({
  code: 'credit_given_back_already',
  kind: 'rule_broken',
  title: 'The amount was given back already',
  meaning:
    'Refunds of its payments and other credit notes gave back more of the invoice than leaves the amount of the note. `creditable_total` is the largest total, with tax, of a further note. To document a refund that was made, issue the note with `settle: refund`.',
  occurrence: (total: bigint, most: bigint) => ({
    detail: `The note would be ${total} minor units with tax, but only ${most} of the invoice were not given back already.`,
    extensions: { creditable_total: Number(most) },
    errors: [
      { pointer: '/lines', code: 'given_back_already', message: `must total at most ${most}` },
    ],
  }),
});

export const creditNoteCorrected = defineProblem({
  code: 'credit_note_corrected',
  kind: 'conflict',
  title: 'Usage that the credit note credited was taken back',
  meaning:
    'An invoice since the credit note took usage of a credited line back. It gave back only what the note had left, so that the note cannot be voided.',
  detail: (id: string) => `An invoice since the credit note ${id} took usage of its lines back.`,
});

export const creditNoteSettled = defineProblem({
  code: 'credit_note_settled',
  kind: 'conflict',
  title: 'The credit note was used',
  meaning:
    'The credit it gave was used, or its invoice is no longer open, so that it cannot be voided.',
  detail: (id: string) => `What the credit note ${id} gave was used.`,
});

export const simulatedPriceUnmatched = defineProblem({
  code: 'simulated_price_unmatched',
  kind: 'rule_broken',
  title: 'A price takes the place of none that was sold',
  meaning:
    'In a simulation each price takes the place of those of the plan with its name, once, and has their meter and `by_group`. A flat price can be replaced by a flat one alone: no quantity is known that it was sold for.',
  occurrence: (faults: readonly { readonly pointer: string; readonly message: string }[]) => ({
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
