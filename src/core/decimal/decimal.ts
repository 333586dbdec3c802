import { invariant } from '../invariant';
import { rational, roundToInteger, type Rational } from './rational';

export const MAX_INTEGER_DIGITS = 20;
export const MAX_FRACTION_DIGITS = 18;

const DECIMAL = new RegExp(
  `^(-?)(0|[1-9]\\d{0,${MAX_INTEGER_DIGITS - 1}})(?:\\.(\\d{1,${MAX_FRACTION_DIGITS}}))?$`,
);

/**
 * Parses a quantity or unit price as the API writes it, such as `-12.50`. Accepts an optional minus, at most
 * {@link MAX_INTEGER_DIGITS} digits before the point and at most {@link MAX_FRACTION_DIGITS} digits after it. Refuses
 * exponents, leading zeros and spaces.
 * @throws InvariantError for any other text. Validate external input first.
 */
export function parseDecimal(text: string): Rational {
  const match = DECIMAL.exec(text);
  invariant(match !== null, `${JSON.stringify(text)} is not a decimal`);
  const [, sign = '', integer = '', fraction = ''] = match;
  return rational(BigInt(`${sign}${integer}${fraction}`), 10n ** BigInt(fraction.length));
}

/**
 * Formats `value` with at most `fractionDigits` digits after the point, rounded half away from zero, without trailing
 * zeros. Use it for quantities and for display, not for amounts to bill.
 */
export function formatDecimal(value: Rational, fractionDigits: number): string {
  const scale = 10n ** BigInt(fractionDigits);
  const scaled = roundToInteger(rational(value.numerator * scale, value.denominator));
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(fractionDigits + 1, '0');
  const integer = digits.slice(0, digits.length - fractionDigits);
  const fraction = digits.slice(digits.length - fractionDigits).replace(/0+$/, '');
  return `${scaled < 0n ? '-' : ''}${integer}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * Formats `value` exactly: as a decimal if it has finitely many digits (`"0.0125"`), otherwise as a fraction
 * (`"67500/31"`). {@link parseExact} reads this text. Traces of invoice lines (the steps by which their amounts were
 * computed) store it.
 */
export function formatExact(value: Rational): string {
  let rest = value.denominator;
  let fractionDigits = 0;
  while (rest % 10n === 0n) {
    rest /= 10n;
    fractionDigits += 1;
  }
  for (const factor of [2n, 5n]) {
    while (rest % factor === 0n) {
      rest /= factor;
      fractionDigits += 1;
    }
  }
  return rest === 1n
    ? formatDecimal(value, fractionDigits)
    : `${value.numerator}/${value.denominator}`;
}

/**
 * Parses the text of {@link formatExact}. Accepts more digits than {@link parseDecimal}, because exact amounts are
 * products, which have more digits than their factors.
 * @throws InvariantError on any other text.
 */
export function parseExact(text: string): Rational {
  const match = /^(-?)(\d+)(?:\.(\d+)|\/([1-9]\d*))?$/.exec(text);
  invariant(match !== null, `${JSON.stringify(text)} is not an exact number`);
  const [, sign = '', integer = '', fraction = '', denominator = '1'] = match;
  return rational(
    BigInt(`${sign}${integer}${fraction}`),
    10n ** BigInt(fraction.length) * BigInt(denominator),
  );
}
