import { compare, formatExact, rational, type Rational } from '../../../core/decimal';

/** What a meter reads of events. */
interface Reading {
  readonly aggregation: string;
  readonly valueProperty: string | null;
  readonly filters: readonly { readonly property: string; readonly in: readonly string[] }[];
}

/**
 * The properties of an event by which a meter counts a quantity; null where it cannot: only sums take any quantity, and
 * what counts events takes one. What it filters by has the first of the values that fit.
 */
export function eventPropertiesOf(
  { aggregation, valueProperty, filters }: Reading,
  quantity: Rational,
): Readonly<Record<string, string>> | null {
  const fitting = Object.fromEntries(
    filters.map(({ property, in: values }) => [property, values[0] ?? '']),
  );
  if (aggregation === 'count') return compare(quantity, rational(1n)) === 0 ? fitting : null;
  if (aggregation !== 'sum' || valueProperty === null || valueProperty in fitting) return null;
  return { ...fitting, [valueProperty]: formatExact(quantity) };
}
