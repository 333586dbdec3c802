import { minorDigits } from '../../../../core/money';

/** Currencies whose amounts Stripe expects without decimals. */
const ZERO_DECIMALS: ReadonlySet<string> = new Set([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'JPY', 'KMF', 'KRW', 'MGA'],
  ...['PYG', 'RWF', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'],
]);

/** Currencies whose last of three decimals must be zero: card networks round to two. */
const THREE_DECIMALS: ReadonlySet<string> = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND']);

/** Stripe refuses amounts of more than eight digits, in most currencies. */
const MAX_AMOUNT = 99_999_999n;

/** Returns how many decimals Stripe expects in a currency. */
function stripeDigits(currency: string): number {
  return ZERO_DECIMALS.has(currency) ? 0 : THREE_DECIMALS.has(currency) ? 3 : 2;
}

/**
 * Returns the amount that Stripe expects, or null if it cannot charge this amount. Most currencies have the minor unit of ISO
 * 4217. ISK and UGX, which have none, have two decimals at Stripe. Source: docs.stripe.com/currencies.
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

/** Converts an amount of Stripe to ISO 4217 minor units, rounded down. */
export function fromStripeAmount(amount: number, currency: string): bigint {
  const digits = minorDigits(currency);
  const given = stripeDigits(currency);
  const scaled = BigInt(amount) * 10n ** BigInt(Math.max(digits - given, 0));
  return scaled / 10n ** BigInt(Math.max(given - digits, 0));
}
