import { Column } from 'typeorm';
import { formatDecimal, parseExact, type Rational } from '../../core/decimal';

/** Digits after the point that are kept: more than a value times a quantity of twelve digits each has. */
const FRACTION_DIGITS = 30;

export function toNumeric(value: Rational): string {
  return formatDecimal(value, FRACTION_DIGITS);
}

const transformer = {
  from: (text: string | null): Rational | null => (text === null ? null : parseExact(text)),
  to: (value: Rational | null | undefined): string | null | undefined =>
    value === null || value === undefined ? value : toNumeric(value),
};

/** An exact number, `numeric` in the database. */
export function DecimalColumn(options: { readonly nullable?: true } = {}): PropertyDecorator {
  return Column({ type: 'numeric', transformer, ...options });
}
