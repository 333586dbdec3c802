import { defineNotFound, defineProblem } from '../../platform/errors';

export const refundNotFound = defineNotFound('refund_not_found', 'a refund');

export const refundNotInSandbox = defineProblem({
  code: 'refund_not_in_sandbox',
  kind: 'conflict',
  title: 'The refund is not pending in the sandbox',
  meaning: 'Only a refund that the sandbox received and has not settled yet can be settled.',
  detail: (id: string) => `The refund ${id} is not pending in the sandbox.`,
});

export const refundLimitExceeded = defineProblem({
  code: 'refund_limit_exceeded',
  kind: 'forbidden',
  title: 'The caller may not refund so much of a payment',
  meaning:
    'An owner has limited what admins with the role `support` may refund of one payment in total. `limit` is this total in minor units of the payment’s currency, including pending and earlier refunds. Nothing was refunded. Ask an admin without a limit.',
  occurrence: (limit: bigint, currency: string) => ({
    detail: `You may refund a total of at most ${limit} minor units (${currency}) of a payment. Ask an admin without a limit.`,
    extensions: { limit: Number(limit) },
  }),
});

export const paymentHasNoInvoice = defineProblem({
  code: 'payment_has_no_invoice',
  kind: 'rule_broken',
  title: 'The payment paid no invoice',
  meaning:
    'A refund with a `credit_note` corrects the invoice that the payment paid. If it paid none, leave out the credit note.',
  occurrence: (paymentId: string) => ({
    detail: `The payment ${paymentId} paid no invoice. Leave out the credit note.`,
    errors: [
      { pointer: '/credit_note', code: 'no_invoice', message: 'needs a payment of an invoice' },
    ],
  }),
});

export const refundDiffersFromCreditNote = defineProblem({
  code: 'refund_differs_from_credit_note',
  kind: 'rule_broken',
  title: 'The amount differs from what the credit note leaves to refund',
  meaning:
    'A credit note first reduces the unpaid amount of its invoice. The rest with tax (`credit_note_amount`) is left to refund, and the refund must have exactly this amount. Leave out `amount`, or send another note. If nothing is left to refund, issue the note alone.',
  occurrence: (amount: bigint) => ({
    detail: `The credit note leaves ${amount} minor units to refund.`,
    extensions: { credit_note_amount: Number(amount) },
    errors: [
      { pointer: '/amount', code: 'differs_from_credit_note', message: `must be ${amount}` },
    ],
  }),
});
