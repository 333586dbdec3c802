import { minorDigits } from '../../../../core/money';

/** Narrow no-break space: groups digits in every locale, and is not taken for a decimal sign (ISO 80000-1). */
const GROUP_SEPARATOR = '\u202f';
const MINUS = '\u2212';

/** Formats an amount in major units: `1099` USD is `10.99`, `-1234567` JPY is `−1 234 567`. */
export function formatAmount(amountMinor: bigint, currency: string): string {
  return formatUnitPrice(String(amountMinor), currency);
}

/**
 * Formats a decimal number of minor units in major units, with at least as many decimals as the currency has: `0.0125`
 * minor units of USD are `0.000125`.
 */
export function formatUnitPrice(minorUnits: string, currency: string): string {
  const digits = minorDigits(currency);
  const { sign, whole, fraction } = partsOf(minorUnits);
  const padded = whole.padStart(digits + 1, '0');
  const pointAt = padded.length - digits;
  const beyond = fraction.replace(/0+$/, '');
  return formatParts(sign, padded.slice(0, pointAt), padded.slice(pointAt) + beyond);
}

/** Formats a decimal string with grouped digits: `12345.50` is `12 345.5`. */
export function formatQuantity(quantity: string): string {
  const { sign, whole, fraction } = partsOf(quantity);
  return formatParts(sign, whole, fraction.replace(/0+$/, ''));
}

function partsOf(decimal: string): {
  readonly sign: string;
  readonly whole: string;
  readonly fraction: string;
} {
  const isNegative = decimal.startsWith('-');
  const [whole = '', fraction = ''] = decimal.slice(isNegative ? 1 : 0).split('.');
  return { sign: isNegative ? MINUS : '', whole, fraction };
}

function formatParts(sign: string, whole: string, fraction: string): string {
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, GROUP_SEPARATOR);
  return `${sign}${grouped}${fraction === '' ? '' : `.${fraction}`}`;
}
