import { fromStripeAmount, toStripeAmount } from './stripe-amounts';

describe('an amount sent to Stripe', () => {
  it.each([
    ['of two decimals is unchanged', 1_050n, 'USD', 1_050],
    ['of no decimals is unchanged', 500n, 'JPY', 500],
    [
      'of a currency without decimals at ISO but two at Stripe is a hundredfold',
      700n,
      'ISK',
      70_000,
    ],
    ['in shillings of Uganda is a hundredfold', 700n, 'UGX', 70_000],
    ['of a currency with decimals at ISO but none at Stripe is a hundredth', 1_200n, 'MGA', 12],
    ['of a currency with decimals at ISO but none at Stripe must be whole', 1_250n, 'MGA', null],
    ['that would be less than one unit is not rounded to 0', 1n, 'MGA', null],
    ['of one of three decimals is not rounded to 0', 4n, 'IQD', null],
    ['of three decimals is unchanged in tens', 5_120n, 'KWD', 5_120],
    ['of three decimals must be in tens', 5_124n, 'KWD', null],
    ['of three decimals, two at Stripe, is a tenth', 5_120n, 'IQD', 512],
    ['of eight digits is allowed', 99_999_999n, 'EUR', 99_999_999],
    ['of nine digits is not', 100_000_000n, 'EUR', null],
  ] as const)('%s', (_, amount, currency, expected) => {
    expect(toStripeAmount(amount, currency)).toBe(expected);
    if (expected !== null) expect(fromStripeAmount(expected, currency)).toBe(amount);
  });
});
