import fc from 'fast-check';
import type { CouponOff, RedeemedCoupon } from '../discount';
import { InvariantError } from '../invariant';
import {
  assembleInvoice,
  type Commitment,
  type CreditGrant,
  type InvoiceContents,
  type LineAmount,
} from './index';
import { assertInvoiceAddsUp } from './assemble';

const line = (lineId: string, amountMinor: bigint, ...taxRateIds: string[]): LineAmount => ({
  lineId,
  kind: amountMinor < 0n ? 'credit' : 'recurring',
  amountMinor,
  currency: 'USD',
  taxRateIds,
});
const coupon = (off: CouponOff, lineIds: RedeemedCoupon['lineIds'] = 'all'): RedeemedCoupon => ({
  redemptionId: 'red_1',
  redeemedAt: new Date('2026-01-01T00:00:00Z'),
  duration: 'once',
  lineIds,
  off,
});
const credit = (creditId: string, remainingMinor: bigint, day = 1): CreditGrant => ({
  creditId,
  remainingMinor,
  currency: 'USD',
  createdAt: new Date(Date.UTC(2026, 0, day)),
});
const commitment = (change: Partial<Commitment>): Commitment => ({
  lineId: 'true-up',
  countedLineIds: new Set(['usage']),
  alreadyBilledMinor: 0n,
  minimumMinor: null,
  maximumMinor: null,
  proration: null,
  taxRateIds: [],
  ...change,
});
const contents = (change: Partial<InvoiceContents>): InvoiceContents => ({
  currency: 'USD',
  lines: [],
  commitments: [],
  coupons: [],
  taxRates: [{ taxRateId: 'vat', percentage: '20', inclusive: false }],
  taxTreatment: 'none',
  creditGrants: [],
  ...change,
});
const amounts = (change: Partial<InvoiceContents>) => {
  const invoice = assembleInvoice(contents(change));
  return {
    subtotal: invoice.subtotalMinor,
    discount: invoice.discountMinor,
    tax: invoice.exclusiveTaxMinor,
    total: invoice.totalMinor,
    credit: invoice.creditAppliedMinor,
    due: invoice.amountDueMinor,
    toBalance: invoice.creditedToBalanceMinor,
  };
};

describe('an invoice is made in one order: lines, true-ups, coupons, tax, credit', () => {
  const nothing = { discount: 0n, tax: 0n, credit: 0n, toBalance: 0n };

  test.each<[string, Partial<InvoiceContents>, ReturnType<typeof amounts>]>([
    ['nothing', {}, { ...nothing, subtotal: 0n, total: 0n, due: 0n }],
    [
      'coupon before tax, credit after it',
      {
        lines: [line('seat', 7000n, 'vat')],
        coupons: [coupon({ type: 'amount', amountOffMinor: 1000n })],
        creditGrants: [credit('note', 2000n, 1), credit('prepaid', 3000n, 2)],
      },
      {
        subtotal: 7000n,
        discount: 1000n,
        tax: 1200n,
        total: 7200n,
        credit: 5000n,
        due: 2200n,
        toBalance: 0n,
      },
    ],
    [
      'a minimum counts before the coupon and is taxed',
      {
        lines: [line('usage', 100n, 'vat')],
        commitments: [commitment({ minimumMinor: 1000n, taxRateIds: ['vat'] })],
        coupons: [coupon({ type: 'percent', percentOff: '10' })],
      },
      { ...nothing, subtotal: 1000n, discount: 100n, tax: 180n, total: 1080n, due: 1080n },
    ],
    [
      'what earlier invoices billed counts towards the minimum',
      {
        lines: [line('usage', 0n)],
        commitments: [commitment({ minimumMinor: 1000n, alreadyBilledMinor: 100n })],
      },
      { ...nothing, subtotal: 900n, total: 900n, due: 900n },
    ],
    [
      'a coupon does not take off again what the maximum took',
      {
        lines: [line('usage', 150n)],
        commitments: [commitment({ maximumMinor: 100n })],
        coupons: [coupon({ type: 'percent', percentOff: '100' })],
      },
      { ...nothing, subtotal: 100n, discount: 100n, total: 0n, due: 0n },
    ],
    [
      'a coupon for all takes off all that no maximum took',
      {
        lines: [line('usage', 150n), line('seat', 70n), line('more', 1n), line('old', -40n)],
        commitments: [
          commitment({ countedLineIds: new Set(['usage', 'more', 'old']), maximumMinor: 31n }),
        ],
        coupons: [coupon({ type: 'percent', percentOff: '100' })],
      },
      { ...nothing, subtotal: 101n, discount: 141n, total: -40n, due: 0n, toBalance: 40n },
    ],
    [
      'a maximum that earlier invoices passed gives back more than the lines hold',
      {
        lines: [line('usage', 100n)],
        commitments: [commitment({ maximumMinor: 1000n, alreadyBilledMinor: 1100n })],
        coupons: [coupon({ type: 'percent', percentOff: '100' })],
      },
      { ...nothing, subtotal: -100n, total: -100n, due: 0n, toBalance: 100n },
    ],
    [
      'one minor unit is billed, and paid by credit',
      { lines: [line('seat', 1n)], creditGrants: [credit('note', 1n)] },
      { ...nothing, subtotal: 1n, total: 1n, credit: 1n, due: 0n },
    ],
    [
      'one minor unit is due',
      { lines: [line('seat', 1n)] },
      { ...nothing, subtotal: 1n, total: 1n, due: 1n },
    ],
    [
      'a credit is taxed with the charge it meets',
      { lines: [line('old', -483n, 'vat'), line('new', 1933n, 'vat')] },
      { ...nothing, subtotal: 1450n, tax: 290n, total: 1740n, due: 1740n },
    ],
    [
      'a negative invoice becomes credit balance and uses none',
      {
        lines: [line('old', -1000n, 'vat'), line('new', 400n, 'vat')],
        creditGrants: [credit('note', 500n)],
      },
      {
        subtotal: -600n,
        discount: 0n,
        tax: -120n,
        total: -720n,
        credit: 0n,
        due: 0n,
        toBalance: 720n,
      },
    ],
    [
      'credit goes down to zero and no further',
      { lines: [line('seat', 1000n)], creditGrants: [credit('note', 5000n)] },
      { ...nothing, subtotal: 1000n, total: 1000n, credit: 1000n, due: 0n },
    ],
    [
      'inclusive tax is within the total',
      {
        lines: [line('seat', 11900n, 'mwst')],
        taxRates: [{ taxRateId: 'mwst', percentage: '19', inclusive: true }],
      },
      { ...nothing, subtotal: 11900n, total: 11900n, due: 11900n },
    ],
  ])('%s', (_, given, expected) => {
    expect(amounts(given)).toEqual(expected);
  });

  test('a line shows its shares of discount and tax', () => {
    const invoice = assembleInvoice(
      contents({
        lines: [line('a', 333n, 'vat'), line('b', 334n, 'vat'), line('c', 333n)],
        coupons: [coupon({ type: 'amount', amountOffMinor: 100n }, new Set(['a', 'b']))],
      }),
    );
    expect(invoice.lines.map(({ discountShares }) => discountShares)).toEqual([
      [{ redemptionId: 'red_1', amountMinor: 50n }],
      [{ redemptionId: 'red_1', amountMinor: 50n }],
      [],
    ]);
    expect(invoice.lines[0]).toMatchObject({
      netMinor: 283n,
      taxMinor: 56n,
      taxShares: [{ taxRateId: 'vat', taxMinor: 56n }],
    });
    expect(invoice.lines[1]).toMatchObject({ netMinor: 284n, taxMinor: 57n });
    expect(invoice.taxRates).toEqual([{ taxRateId: 'vat', taxableMinor: 567n, taxMinor: 113n }]);
  });

  test('the oldest credit is used first', () => {
    const invoice = assembleInvoice(
      contents({
        lines: [line('seat', 1000n)],
        creditGrants: [credit('new', 800n, 3), credit('empty', 0n, 1), credit('old', 700n, 2)],
      }),
    );
    expect(invoice.credits).toEqual([
      { creditId: 'old', amountMinor: 700n },
      { creditId: 'new', amountMinor: 300n },
    ]);
  });

  test('a true-up is a line of its own kind', () => {
    const invoice = assembleInvoice(
      contents({ lines: [line('usage', 150n)], commitments: [commitment({ maximumMinor: 100n })] }),
    );
    expect(invoice.lines[1]).toMatchObject({
      lineId: 'true-up',
      kind: 'maximum',
      amountMinor: -50n,
    });
  });
});

describe('what does not belong on one invoice is refused', () => {
  test.each<[string, Partial<InvoiceContents>]>([
    ['a line in another currency', { lines: [{ ...line('a', 1n), currency: 'EUR' }] }],
    ['a credit in another currency', { creditGrants: [{ ...credit('a', 1n), currency: 'EUR' }] }],
    ['a credit below zero', { creditGrants: [credit('a', -1n)] }],
    ['a line twice', { lines: [line('a', 1n), line('a', 1n)] }],
    [
      'a commitment on a line that is not there',
      { commitments: [commitment({ minimumMinor: 1n })] },
    ],
    ['a tax rate that is not known', { lines: [line('a', 1n, 'gst')] }],
  ])('%s', (_, given) => {
    expect(() => assembleInvoice(contents(given))).toThrow(InvariantError);
  });

  test.each([
    ['subtotalMinor'],
    ['discountMinor'],
    ['exclusiveTaxMinor'],
    ['totalMinor'],
    ['amountDueMinor'],
    ['creditAppliedMinor'],
    ['creditedToBalanceMinor'],
  ])('a stored invoice whose %s is off by one', (field) => {
    const invoice = assembleInvoice(contents({ lines: [line('a', 100n, 'vat')] }));
    expect(() => assertInvoiceAddsUp(invoice)).not.toThrow();
    expect(() => assertInvoiceAddsUp({ ...invoice, [field]: 1n })).toThrow(InvariantError);
  });

  test.each([-1n, 101n])('a stored line of 100 with a discount of %d', (discountMinor) => {
    const invoice = assembleInvoice(contents({ lines: [line('a', 100n)] }));
    const netMinor = 100n - discountMinor;
    const stored = {
      ...invoice,
      lines: invoice.lines.map((one) => ({ ...one, discountMinor, netMinor })),
      discountMinor,
      totalMinor: netMinor,
      amountDueMinor: netMinor > 0n ? netMinor : 0n,
      creditedToBalanceMinor: netMinor < 0n ? -netMinor : 0n,
    };
    expect(() => {
      assertInvoiceAddsUp(stored);
    }).toThrow('a discount is part of its line');
  });
});

describe('for any contents', () => {
  const anyLine = fc.record({
    amountMinor: fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }),
    taxRateIds: fc.subarray(['vat', 'mwst']),
  });
  const anyCoupon = fc.oneof(
    fc.nat(100).map((percent) => coupon({ type: 'percent', percentOff: percent.toString() })),
    fc.nat(10 ** 6).map((off) => coupon({ type: 'amount', amountOffMinor: BigInt(off) })),
  );

  test('totals equal lines, nothing due is negative, credit is never overdrawn', () => {
    fc.assert(
      fc.property(
        fc.array(anyLine, { maxLength: 8 }),
        fc.array(anyCoupon, { maxLength: 3 }),
        fc.array(fc.nat(10 ** 6), { maxLength: 3 }),
        fc.option(fc.nat(10 ** 6)),
        (lines, coupons, credits, limit) => {
          const limitMinor = limit === null ? null : BigInt(limit);
          const invoice = assembleInvoice(
            contents({
              lines: lines.map((given, index) => ({ ...line(`${index}`, 0n), ...given })),
              commitments: [
                commitment({
                  countedLineIds: new Set(lines.map((_, index) => `${index}`)),
                  minimumMinor: limitMinor,
                  maximumMinor: limitMinor,
                }),
              ],
              coupons,
              taxRates: [
                { taxRateId: 'vat', percentage: '20', inclusive: false },
                { taxRateId: 'mwst', percentage: '7.7', inclusive: true },
              ],
              creditGrants: credits.map((left, index) =>
                credit(`${index}`, BigInt(left), index + 1),
              ),
            }),
          );
          expect(() => assertInvoiceAddsUp(invoice)).not.toThrow();
          if (limitMinor !== null) expect(invoice.subtotalMinor).toBe(limitMinor);
          invoice.credits.forEach(({ creditId, amountMinor }) => {
            expect(amountMinor <= BigInt(credits[Number(creditId)] ?? 0)).toBe(true);
          });
        },
      ),
    );
  });
});
