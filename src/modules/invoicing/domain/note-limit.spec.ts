import { type GivenBack, settlementOf } from './credit-note';
import type { Invoice } from './invoice';
import { explainLimit, limitOfNote } from './note-limit';

/** An invoice of 10.00 that was paid in money. */
const paid = {
  status: 'paid',
  total: 1_000n,
  amountDue: 1_000n,
  amountPaid: 1_000n,
  creditApplied: 0n,
  amountCredited: 0n,
  amountPending: 0n,
  lines: [],
} as unknown as Invoice;

/**
 * Amounts given back of the invoice. `held` is calculated from the credit notes and from `laterMinor`, which later
 * invoices credited.
 */
function given(amounts: Partial<GivenBack> = {}, laterMinor = 0n): GivenBack {
  const parts = {
    toReceivableMinor: 0n,
    toCreditMinor: 0n,
    toRefundMinor: 0n,
    refundedMinor: 0n,
    lostMinor: 0n,
    lostCreditMinor: 0n,
    ...amounts,
  };
  const { toReceivableMinor, toCreditMinor, toRefundMinor } = parts;
  const heldMinor = 1_000n - toReceivableMinor - toCreditMinor - toRefundMinor - laterMinor;
  return { ...parts, held: { heldMinor, toRefundMinor, paidMinor: 1_000n } };
}

describe('a credit note is limited', () => {
  it.each<[string, GivenBack, bigint, bigint, string]>([
    ['by what was charged', given(), 1_000n, 1_000n, '1000 were charged'],
    [
      'by other notes',
      given({ toCreditMinor: 300n }),
      700n,
      700n,
      '1000 were charged, 300 were credited by other credit notes',
    ],
    [
      'by refunds without a note, if it documents none',
      given({ refundedMinor: 600n }),
      400n,
      1_000n,
      '1000 were charged, 600 were refunded without a credit note',
    ],
    [
      'by refunds beyond the notes that they fulfil',
      given({ refundedMinor: 600n, toRefundMinor: 500n }),
      400n,
      500n,
      '1000 were charged, 500 were credited by other credit notes, 100 were refunded without a credit note',
    ],
    [
      'by lost disputes',
      given({ lostMinor: 300n }),
      700n,
      700n,
      '1000 were charged, 300 were lost in disputes without a credit note',
    ],
    [
      'by a loss of all, except for what was refunded before',
      given({ lostMinor: 1_000n, refundedMinor: 100n }),
      0n,
      100n,
      '1000 were charged, 100 were refunded without a credit note, 1000 were lost in disputes without a credit note',
    ],
    [
      'by a loss after a note that is not refunded yet',
      given({ lostMinor: 600n, toRefundMinor: 500n }),
      400n,
      0n,
      '1000 were charged, 500 were credited by other credit notes, 100 were lost in disputes without a credit note',
    ],
    [
      'by later invoices',
      given({ lostMinor: 200n }, 500n),
      300n,
      300n,
      '1000 were charged, 500 were credited by later invoices, 200 were lost in disputes without a credit note',
    ],
  ])('%s', (_, amounts, asCredit, asRefund, explained) => {
    const credit = limitOfNote(paid, 'credit', amounts);
    expect(credit.creditableTotalMinor).toBe(asCredit);
    expect(explainLimit(credit)).toBe(explained);
    const { creditableTotalMinor } = limitOfNote(paid, 'refund', amounts);
    expect(creditableTotalMinor).toBe(asRefund);
    expect(settlementOf(paid, creditableTotalMinor, 'refund', amounts)).toEqual({
      toReceivable: 0n,
      toCredit: 0n,
      toRefund: asRefund,
    });
  });
});

it('a credit note gives back as credit what credit paid, where the money was lost', () => {
  const invoice = { ...paid, amountDue: 200n, amountPaid: 200n, creditApplied: 800n };
  const amounts = given({ lostMinor: 200n });
  expect(limitOfNote(invoice, 'refund', amounts).creditableTotalMinor).toBe(800n);
  expect(settlementOf(invoice, 800n, 'refund', amounts)).toMatchObject({
    toCredit: 800n,
    toRefund: 0n,
  });
});

it('a credit note is limited by negative lines, which are named', () => {
  const line = { kind: 'one_off', creditsLineId: null, trace: { kind: 'one_off' }, tax: 0n };
  const lines = [1_000n, -400n].map((amount) => ({ ...line, amount, net: amount }));
  const invoice = { ...paid, total: 600n, amountDue: 600n, amountPaid: 600n, lines };
  const held = { heldMinor: 600n, toRefundMinor: 0n, paidMinor: 600n };
  const limit = limitOfNote(invoice as unknown as Invoice, 'credit', { ...given(), held });
  expect(limit).toMatchObject({ creditableTotalMinor: 600n, laterMinor: 0n });
  expect(explainLimit(limit)).toBe('1000 were charged, 400 were taken off by negative lines');
});
