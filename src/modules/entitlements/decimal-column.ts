import { Column } from 'typeorm';
import { formatDecimal, parseExact, type Rational } from '../../core/decimal';

/**
 * Maximum number of stored fraction digits. It suffices for the product of two numbers with 12 fraction digits each.
 */
const FRACTION_DIGITS = 30;

export function toNumeric(value: Rational): string {
  return formatDecimal(value, FRACTION_DIGITS);
}

/**
 * Rounds a quantity to the digits that a column stores. Only the usage of a `weighted_sum` meter can have more digits.
 */
export function asStored(value: Rational): Rational {
  return parseExact(toNumeric(value));
}

const transformer = {
  from: (text: string | null): Rational | null => (text === null ? null : parseExact(text)),
  to: (value: Rational | null | undefined): string | null | undefined =>
    value === null || value === undefined ? value : toNumeric(value),
};

export function DecimalColumn(
  options: { readonly name?: string; readonly nullable?: true } = {},
): PropertyDecorator {
  return Column({ type: 'numeric', transformer, ...options });
}
