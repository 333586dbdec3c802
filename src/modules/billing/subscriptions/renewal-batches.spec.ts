import { renewalBatches } from './renewal-batches';

describe('the batches of renewals', () => {
  const batches = (customers: string, balances: Readonly<Record<string, number>>) =>
    renewalBatches(
      [...customers].map((customerId) => ({ customerId })),
      new Map(Object.entries(balances)),
      20,
    ).map((batch) => batch.map(({ customerId }) => customerId).join(''));

  it('are one without balances, and none without renewals', () => {
    expect(batches('abcdef', {})).toEqual(['abcdef']);
    expect(batches('', {})).toEqual([]);
  });

  it('end before the balances exceed the maximum', () => {
    expect(batches('abcde', { a: 10, b: 10, c: 10, d: 9, e: 2 })).toEqual(['ab', 'cd', 'e']);
  });

  it('count the balances of a customer once each, and again in the next batch', () => {
    expect(batches('aabac', { a: 15, b: 6, c: 6 })).toEqual(['aa', 'b', 'a', 'c']);
    expect(batches('abab', { a: 10, b: 10 })).toEqual(['abab']);
  });

  it('recalculate more only for a single customer, besides renewals without balances', () => {
    expect(batches('abcbd', { b: 100, d: 1 })).toEqual(['a', 'bcb', 'd']);
  });
});
