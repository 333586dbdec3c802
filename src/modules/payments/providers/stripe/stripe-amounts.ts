import { minorDigits } from '../../../../core/money';

/** Currencies whose amounts Stripe expects without decimals. */
const ZERO_DECIMALS: ReadonlySet<string> = new Set([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'JPY', 'KMF', 'KRW', 'MGA'],
  ...['PYG', 'RWF', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'],
]);

/** Currencies with three decimals. The last decimal must be zero, because card networks round to two decimals. */
const THREE_DECIMALS: ReadonlySet<string> = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND']);

/** In most currencies, Stripe refuses amounts of more than eight digits. */
const MAX_AMOUNT = 99_999_999n;

function stripeDigits(currency: string): number {
  return ZERO_DECIMALS.has(currency) ? 0 : THREE_DECIMALS.has(currency) ? 3 : 2;
}

/**
 * Returns the amount in the unit that Stripe expects, or null if Stripe cannot charge the amount. The unit is the minor
 * unit of ISO 4217 for most currencies. ISK and UGX have no decimals in ISO 4217, but two at Stripe. Source:
 * docs.stripe.com/currencies.
 * @param amountMinor minor units of ISO 4217
 */
export function toStripeAmount(amountMinor: bigint, currency: string): number | null {
  const digits = minorDigits(currency);
  const expected = stripeDigits(currency);
  const scaled = amountMinor * 10n ** BigInt(Math.max(expected - digits, 0));
  const divisor = 10n ** BigInt(Math.max(digits - expected, 0));
  if (scaled % divisor !== 0n) return null;
  const amount = scaled / divisor;
  if (expected === 3 && amount % 10n !== 0n) return null;
  return amount > MAX_AMOUNT ? null : Number(amount);
}

/** Converts an amount in Stripe's unit to minor units of ISO 4217, rounded down. */
export function fromStripeAmount(amount: number, currency: string): bigint {
  const digits = minorDigits(currency);
  const given = stripeDigits(currency);
  const scaled = BigInt(amount) * 10n ** BigInt(Math.max(digits - given, 0));
  return scaled / 10n ** BigInt(Math.max(given - digits, 0));
}
