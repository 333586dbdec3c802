import { type LoweredInvoice, creditedLater, type NegativeInvoiceCredit } from './lowered';

/** Transactions are numbered in the order in which they were posted. */
const credit = (postedId: string, amountMinor: bigint, isLater = true): NegativeInvoiceCredit => ({
  subscriptionId: 'sub',
  postedId,
  isLater,
  amountMinor,
});
const invoice = (
  id: string,
  finalizedBy: string,
  loweredMinor: bigint,
  writtenOffBy: string | null = null,
): LoweredInvoice => ({ id, subscriptionId: 'sub', finalizedBy, writtenOffBy, loweredMinor });

describe('credit that lowered invoices', () => {
  it.each<[string, NegativeInvoiceCredit[], LoweredInvoice[], [string, bigint][]]>([
    ['lowered the only one', [credit('2', 30n)], [invoice('a', '1', 30n)], [['a', 30n]]],
    [
      'lowered the oldest first',
      [credit('3', 80n), credit('4', 40n)],
      [invoice('a', '1', 50n), invoice('b', '2', 70n)],
      [
        ['a', 50n],
        ['b', 70n],
      ],
    ],
    [
      'counts from the instant on',
      [credit('3', 80n, false), credit('4', 40n)],
      [invoice('a', '1', 50n), invoice('b', '2', 70n)],
      [['b', 40n]],
    ],
    [
      'did not lower an older one that was finalized since',
      [credit('2', 50n), credit('4', 60n)],
      [invoice('a', '3', 40n), invoice('b', '1', 70n)],
      [
        ['a', 40n],
        ['b', 70n],
      ],
    ],
    [
      'did not lower as a receivable what was written off before',
      [credit('3', 50n), credit('5', 20n)],
      [invoice('a', '1', 90n, '4'), invoice('b', '2', 20n)],
      [
        ['a', 50n],
        ['b', 20n],
      ],
    ],
    [
      'of another subscription lowered others',
      [{ ...credit('2', 50n), subscriptionId: 'other' }],
      [invoice('a', '1', 50n)],
      [],
    ],
  ])('%s', (_, credits, invoices, expected) => {
    const later = [...creditedLater(credits, invoices)].filter(([, amount]) => amount !== 0n);
    expect(later.sort()).toEqual(expected);
  });
});
