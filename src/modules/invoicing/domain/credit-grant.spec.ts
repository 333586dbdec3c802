import { creditAfter, grantOf, toCreditGrant, type StoredCreditGrant } from './credit-grant';
import type { Invoice } from './invoice';

const NOW = new Date('2026-03-01T00:00:00.000Z');

function grant(id: string, remaining: bigint): StoredCreditGrant {
  return {
    id,
    customerId: 'cus_1',
    currency: 'EUR',
    amount: 1_000n,
    remaining,
    reserved: 0n,
    refunded: 0n,
    lost: 0n,
    sourceId: 'inv_0',
    createdAt: NOW,
  };
}

const negative = (creditedToBalance: bigint) =>
  ({
    id: 'inv_1',
    customerId: 'cus_1',
    currency: 'EUR',
    creditedToBalance,
    updatedAt: NOW,
  }) as Invoice;

describe('the credit of a customer', () => {
  it('grows by a negative invoice, and by no other', () => {
    expect(grantOf(negative(0n), 'crd_1', NOW)).toBeNull();
    expect(grantOf(negative(250n), 'crd_1', NOW)).toEqual({
      id: 'crd_1',
      customerId: 'cus_1',
      currency: 'EUR',
      amount: 250n,
      remaining: 250n,
      reserved: 0n,
      refunded: 0n,
      lost: 0n,
      sourceId: 'inv_1',
      createdAt: NOW,
    });
  });

  it.each([
    ['an invoice that uses none', [], null, { crd_1: 300n, crd_2: 1_000n }],
    [
      'one that uses a credit up and some of the next',
      [
        { creditId: 'crd_1', amountMinor: 300n },
        { creditId: 'crd_2', amountMinor: 1n },
      ],
      null,
      { crd_1: 0n, crd_2: 999n },
    ],
    ['one that adds some', [], grant('crd_3', 50n), { crd_1: 300n, crd_2: 1_000n, crd_3: 50n }],
  ])('is, after %s, what the next invoice finds', (_, used, added, left) => {
    const before = [grant('crd_1', 300n), grant('crd_2', 1_000n)].map(toCreditGrant);
    const after = creditAfter(before, used, added);
    expect(
      Object.fromEntries(after.map(({ creditId, remainingMinor }) => [creditId, remainingMinor])),
    ).toEqual(left);
  });
});
