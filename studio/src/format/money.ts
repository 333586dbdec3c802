import { serviceSettings } from '../settings';

/** Returns the number of decimals of a currency, as the service states it. `Intl` differs from ISO 4217 for 17 currencies. */
function digitsOf(currency: string): number {
  return serviceSettings().currency_digits[currency] ?? 2;
}

const formats = new Map<string, Intl.NumberFormat>();

function formatOf(currency: string): Intl.NumberFormat {
  const known = formats.get(currency);
  if (known !== undefined) return known;
  const digits = digitsOf(currency);
  const format = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  formats.set(currency, format);
  return format;
}

/** Returns minor units as a decimal string of the major unit: 2900 USD is `29.00`. */
export function toDecimal(minor: number | bigint | string, currency: string): string {
  const digits = digitsOf(currency);
  const text = String(minor);
  const sign = text.startsWith('-') ? '-' : '';
  const figures = text.replace('-', '').padStart(digits + 1, '0');
  if (digits === 0) return sign + figures;
  return `${sign}${figures.slice(0, -digits)}.${figures.slice(-digits)}`;
}

/** Formats minor units as an amount of the currency. Large amounts stay exact, because `Intl` gets a decimal string. */
export function money(minor: number | bigint | string, currency: string): string {
  return formatOf(currency).format(toDecimal(minor, currency) as Intl.StringNumericLiteral);
}

/** Returns the minor units of a typed amount, or null if the text is not an amount of the currency. */
export function parseMoney(text: string, currency: string): number | null {
  const digits = digitsOf(currency);
  const match = /^\s*(\d+)(?:[.,](\d*))?\s*$/.exec(text);
  const fraction = match?.[2] ?? '';
  // A comma before three digits may separate thousands, also in currencies with three decimals.
  if (match === null || fraction.length > digits || /,\d{3}\s*$/.test(text)) return null;
  const minor = Number((match[1] ?? '') + fraction.padEnd(digits, '0'));
  return Number.isSafeInteger(minor) ? minor : null;
}

/** Like {@link parseMoney}, but accepts a minus sign, because the total of an invoice can be negative. */
export function parseSignedMoney(text: string, currency: string): number | null {
  const unsigned = text.replace(/^\s*[-\u2212]\s*/, '');
  const minor = parseMoney(unsigned, currency);
  return minor === null || unsigned === text ? minor : -minor;
}

/** Returns minor units as a short amount for the axis of a chart: 1250000 USD is `$12.5K`. */
export function shortMoney(minor: number, currency: string): string {
  const format = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    notation: 'compact',
    minimumFractionDigits: 0,
    maximumFractionDigits: 1,
  });
  return format.format(toDecimal(Math.round(minor), currency) as Intl.StringNumericLiteral);
}
