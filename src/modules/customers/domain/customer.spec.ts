import { currencyFit } from './customer';

describe('the currency of a customer', () => {
  it.each([
    ['not chosen', { currency: null, currencyLocked: false }, 'free'],
    ['chosen, the same', { currency: 'USD', currencyLocked: false }, 'free'],
    ['fixed, the same', { currency: 'USD', currencyLocked: true }, 'fixed'],
    ['chosen, another', { currency: 'EUR', currencyLocked: false }, 'mismatch'],
    ['fixed, another', { currency: 'EUR', currencyLocked: true }, 'mismatch'],
  ] as const)('%s, meets an amount in USD', (_, customer, expected) => {
    expect(currencyFit(customer, 'USD')).toBe(expected);
  });
});
