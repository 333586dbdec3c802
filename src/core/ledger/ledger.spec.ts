import fc from 'fast-check';
import { InvariantError } from '../invariant';
import {
  assertBalanced,
  postCreditNote,
  postDisputeLost,
  postDisputeReinstated,
  postDisputeWithdrawn,
  postInvoice,
  postPayment,
  postPaymentReturned,
  postRecovery,
  postRefund,
  postRefundReturned,
  postRevenueRelease,
  postVoid,
  postWriteOff,
  type LedgerTransaction,
  type RevenueLine,
} from './index';

const line = (netMinor: bigint, change: Partial<RevenueLine> = {}): RevenueLine => ({
  netMinor,
  discountMinor: 0n,
  taxMinor: 0n,
  isDeferred: false,
  ...change,
});
const invoice = (creditAppliedMinor: bigint, ...lines: RevenueLine[]) =>
  postInvoice({ currency: 'USD', lines, creditAppliedMinor });
const note = (change: Partial<Parameters<typeof postCreditNote>[0]>) =>
  postCreditNote({
    currency: 'USD',
    netMinor: 1000n,
    taxMinor: 200n,
    deferredMinor: 0n,
    toReceivableMinor: 0n,
    toCreditMinor: 0n,
    toRefundMinor: 0n,
    ...change,
  });
const payment = (amountMinor: bigint, toReceivableMinor: bigint) =>
  postPayment({ currency: 'USD', provider: 'sandbox', amountMinor, toReceivableMinor });
const refund = (amountMinor: bigint, fromCreditMinor = 0n) =>
  postRefund({ currency: 'USD', provider: 'sandbox', amountMinor, fromCreditMinor });
const returned = (appliedMinor: bigint, refundedMinor: bigint, lostMinor = 0n) =>
  postPaymentReturned({ currency: 'USD', appliedMinor, refundedMinor, lostMinor });
const disputed = (amountMinor: bigint) =>
  postDisputeWithdrawn({ currency: 'USD', provider: 'stripe', amountMinor });
const lost = (amountMinor: bigint, fromCreditMinor: bigint) =>
  postDisputeLost({ currency: 'USD', amountMinor, fromCreditMinor });
const reinstated = (amountMinor: bigint, fromLossesMinor: bigint, toCreditMinor: bigint) =>
  postDisputeReinstated({
    currency: 'USD',
    provider: 'stripe',
    amountMinor,
    fromLossesMinor,
    toCreditMinor,
  });
const balances = (...transactions: LedgerTransaction[]) => {
  const byAccount: Record<string, bigint> = {};
  for (const { account, amountMinor } of transactions.flatMap(({ postings }) => postings)) {
    byAccount[account] = (byAccount[account] ?? 0n) + amountMinor;
  }
  return Object.fromEntries(Object.entries(byAccount).filter(([, amount]) => amount !== 0n));
};

describe('each fact posts one balanced transaction', () => {
  test.each<[string, LedgerTransaction, Record<string, bigint>]>([
    [
      'an invoice in arrears',
      invoice(0n, line(1000n, { taxMinor: 200n })),
      { accounts_receivable: 1200n, revenue: -1000n, tax_payable: -200n },
    ],
    [
      'revenue before discounts, with the discounts beside it',
      invoice(0n, line(900n, { discountMinor: 100n, taxMinor: 180n })),
      { accounts_receivable: 1080n, discounts: 100n, revenue: -1000n, tax_payable: -180n },
    ],
    [
      'the net of a price in advance is deferred, its discount is not',
      invoice(0n, line(900n, { discountMinor: 100n, isDeferred: true })),
      { accounts_receivable: 900n, discounts: 100n, revenue: -100n, deferred_revenue: -900n },
    ],
    [
      'credit pays a part',
      invoice(300n, line(1000n)),
      { accounts_receivable: 700n, customer_credit: 300n, revenue: -1000n },
    ],
    [
      'a negative invoice is owed to the customer',
      invoice(
        0n,
        line(-1000n, { taxMinor: -200n, isDeferred: true }),
        line(400n, { taxMinor: 80n }),
      ),
      { customer_credit: -720n, deferred_revenue: 1000n, revenue: -400n, tax_payable: 120n },
    ],
    ['an invoice of nothing', invoice(0n, line(0n)), {}],
    ['one minor unit owed', invoice(0n, line(1n)), { accounts_receivable: 1n, revenue: -1n }],
    ['one paid by credit', invoice(1n, line(1n)), { customer_credit: 1n, revenue: -1n }],
    ['a refund of nothing', refund(0n), {}],
    [
      'a payment',
      payment(1200n, 1200n),
      { 'cash_clearing:sandbox': 1200n, accounts_receivable: -1200n },
    ],
    [
      'a payment of more than is owed',
      payment(1200n, 1000n),
      { 'cash_clearing:sandbox': 1200n, accounts_receivable: -1000n, customer_credit: -200n },
    ],
    ['a refund', refund(500n), { refunds: 500n, 'cash_clearing:sandbox': -500n }],
    [
      'a refund of credit',
      refund(500n, 500n),
      { customer_credit: 500n, 'cash_clearing:sandbox': -500n },
    ],
    [
      'a refund that a bank returned is with the provider again, and credit first',
      postRefundReturned({
        currency: 'USD',
        provider: 'sandbox',
        amountMinor: 500n,
        toCreditMinor: 200n,
        recoveredMinor: 0n,
      }),
      { 'cash_clearing:sandbox': 500n, customer_credit: -200n, refunds: -300n },
    ],
    [
      'a refund that a bank returned after a lost dispute, a part of its credit recovers the loss',
      postRefundReturned({
        currency: 'USD',
        provider: 'sandbox',
        amountMinor: 500n,
        toCreditMinor: 200n,
        recoveredMinor: 150n,
      }),
      {
        'cash_clearing:sandbox': 500n,
        customer_credit: -50n,
        dispute_losses: -150n,
        refunds: -300n,
      },
    ],
    [
      'a refund, a part of it of credit',
      refund(500n, 200n),
      { customer_credit: 200n, refunds: 300n, 'cash_clearing:sandbox': -500n },
    ],
    [
      'a credit note on an open invoice',
      note({ toReceivableMinor: 1200n }),
      { revenue: 1000n, tax_payable: 200n, accounts_receivable: -1200n },
    ],
    [
      'a credit note on a half-paid one, half of it still deferred',
      note({ deferredMinor: 500n, toReceivableMinor: 600n, toCreditMinor: 600n }),
      {
        deferred_revenue: 500n,
        revenue: 500n,
        tax_payable: 200n,
        accounts_receivable: -600n,
        customer_credit: -600n,
      },
    ],
    [
      'a credit note to be refunded',
      note({ toRefundMinor: 1200n }),
      { revenue: 1000n, tax_payable: 200n, refunds: -1200n },
    ],
    [
      'a payment returned, a part of which was refunded',
      returned(1000n, 300n),
      { accounts_receivable: 1000n, customer_credit: -700n, refunds: -300n },
    ],
    [
      'a payment returned, of which a dispute took a part',
      returned(1000n, 300n, 200n),
      {
        accounts_receivable: 1000n,
        customer_credit: -500n,
        refunds: -300n,
        dispute_losses: -200n,
      },
    ],
    [
      'disputed funds that are withdrawn',
      disputed(1000n),
      { disputed: 1000n, 'cash_clearing:stripe': -1000n },
    ],
    [
      'a lost dispute takes credit first',
      lost(1000n, 300n),
      { customer_credit: 300n, dispute_losses: 700n, disputed: -1000n },
    ],
    [
      'funds that are reinstated before a loss',
      reinstated(1000n, 0n, 0n),
      { 'cash_clearing:stripe': 1000n, disputed: -1000n },
    ],
    ['a write-off', postWriteOff('USD', 1200n), { bad_debt: 1200n, accounts_receivable: -1200n }],
    ['a recovery', postRecovery('USD', 1200n), { accounts_receivable: 1200n, bad_debt: -1200n }],
    [
      'a revenue release',
      postRevenueRelease('USD', 300n),
      { deferred_revenue: 300n, revenue: -300n },
    ],
  ])('%s', (_, posted, expected) => {
    expect(balances(posted)).toEqual(expected);
    expect(() => assertBalanced(posted)).not.toThrow();
  });

  test('an account comes once, and not with zero', () => {
    const { postings } = invoice(0n, line(100n), line(200n), line(-300n, { isDeferred: true }));
    expect(postings).toEqual([
      { account: 'revenue', amountMinor: -300n },
      { account: 'deferred_revenue', amountMinor: 300n },
    ]);
  });
});

describe('facts that belong together meet', () => {
  test('an invoice and its void come to nothing, and credit returns to the customer', () => {
    const posted = invoice(
      300n,
      line(900n, { discountMinor: 100n, taxMinor: 180n, isDeferred: true }),
    );
    const release = postRevenueRelease('USD', 450n);
    expect(balances(posted, release, postVoid('USD', [posted, release]))).toEqual({});
  });

  test('a refund meets its credit note', () => {
    const all = [
      invoice(0n, line(1000n, { taxMinor: 200n })),
      payment(1200n, 1200n),
      note({ toRefundMinor: 1200n }),
      refund(1200n),
    ];
    expect(balances(...all)).toEqual({});
  });

  test('a refund without a credit note leaves the invoice paid', () => {
    const all = [invoice(0n, line(10000n)), payment(10000n, 10000n), refund(1000n)];
    expect(balances(...all)).toEqual({
      revenue: -10000n,
      refunds: 1000n,
      'cash_clearing:sandbox': 9000n,
    });
  });

  test('a payment that paid no invoice and its refund come to nothing', () => {
    expect(balances(payment(1200n, 0n), refund(1000n, 1000n), refund(200n, 200n))).toEqual({});
  });

  test('a payment of more than is owed, refunded wholly, leaves no credit', () => {
    const all = [invoice(0n, line(1000n)), payment(1200n, 1000n), refund(1200n, 200n)];
    expect(balances(...all)).toEqual({ revenue: -1000n, refunds: 1000n });
  });

  test('a part of a void invoice that was paid is credit, whenever it is refunded', () => {
    const billed = invoice(0n, line(1000n, { isDeferred: true }));
    const all = [billed, payment(400n, 400n), refund(100n), postVoid('USD', [billed])];
    expect(balances(...all, returned(400n, 100n))).toEqual({
      customer_credit: -300n,
      'cash_clearing:sandbox': 300n,
    });
    expect(balances(...all, returned(400n, 100n), refund(300n, 300n))).toEqual({});
  });

  test('a dispute that is won leaves nothing, also after it was lost', () => {
    expect(balances(disputed(1000n), reinstated(1000n, 0n, 0n))).toEqual({});
    expect(balances(disputed(1000n), lost(1000n, 300n), reinstated(1000n, 700n, 300n))).toEqual({});
  });

  test('an uncollectible invoice that is paid after all is no bad debt', () => {
    const all = [
      invoice(0n, line(500n)),
      postWriteOff('USD', 500n),
      postRecovery('USD', 500n),
      payment(500n, 500n),
    ];
    expect(balances(...all)).toEqual({ revenue: -500n, 'cash_clearing:sandbox': 500n });
  });
});

describe('what does not balance is refused', () => {
  test.each<[string, () => unknown]>([
    ['more credit than total', () => invoice(1001n, line(1000n))],
    ['credit on a negative invoice', () => invoice(1n, line(-1000n))],
    ['negative credit', () => invoice(-1n, line(1000n))],
    ['a payment of less than it pays', () => payment(100n, 101n)],
    ['a payment returned of which more was refunded', () => returned(100n, 101n)],
    ['a payment returned of which more was lost', () => returned(100n, 50n, 51n)],
    ['a dispute that takes more credit than it lost', () => lost(100n, 101n)],
    ['reinstated funds of less than their parts', () => reinstated(100n, 60n, 41n)],
    ['a negative refund', () => refund(-1n)],
    ['a refund of more credit than it gives back', () => refund(100n, 101n)],
    ['a refund of negative credit', () => refund(100n, -1n)],
    ['a note that settles too little', () => note({ toCreditMinor: 1199n })],
    [
      'a note that settles something negative',
      () => note({ toCreditMinor: 1300n, toRefundMinor: -100n }),
    ],
    [
      'a note that defers more than its net',
      () => note({ deferredMinor: 1001n, toCreditMinor: 1200n }),
    ],
    ['a void over two currencies', () => postVoid('EUR', [payment(1n, 1n)])],
    [
      'a stored transaction off by one',
      () =>
        assertBalanced({
          kind: 'refund',
          currency: 'USD',
          postings: [{ account: 'refunds', amountMinor: 1n }],
        }),
    ],
  ])('%s', (_, attempt) => {
    expect(attempt).toThrow(InvariantError);
  });
});

describe('for any invoice', () => {
  test('the transaction balances, and what the customer owes is the total less credit', () => {
    const lines = fc.array(
      fc.record({
        netMinor: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
        discountMinor: fc.bigInt({ min: 0n, max: 10n ** 6n }),
        taxMinor: fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }),
        isDeferred: fc.boolean(),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(lines, fc.nat(100), (given, percent) => {
        const total = given.reduce((sum, { netMinor, taxMinor }) => sum + netMinor + taxMinor, 0n);
        const credit = total > 0n ? (total * BigInt(percent)) / 100n : 0n;
        const posted = invoice(credit, ...given);
        const { accounts_receivable: owed = 0n, customer_credit: used = 0n } = balances(posted);
        expect(owed + used).toBe(total);
        expect(balances(posted, postVoid('USD', [posted]))).toEqual({});
      }),
    );
  });
});
