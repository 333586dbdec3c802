import { compare, formatExact, rational, type Rational } from '../../../core/decimal';

/** What a meter reads of events. */
interface Reading {
  readonly aggregation: string;
  readonly valueProperty: string | null;
  readonly filters: readonly Filter[];
}

interface Filter {
  readonly property: string;
  readonly in: readonly string[];
}

/**
 * The properties of an event by which a meter counts a quantity; null where it cannot: only sums take any quantity, and
 * what counts events takes one. What it filters by has the first of the values that fit; where none does, nothing counts.
 */
export function eventPropertiesOf(
  { aggregation, valueProperty, filters }: Reading,
  quantity: Rational,
): Readonly<Record<string, string>> | null {
  const fitting = fittingAll(filters);
  if (fitting === null) return null;
  if (aggregation === 'count') {
    return compare(quantity, rational(1n)) === 0 ? Object.fromEntries(fitting) : null;
  }
  if (aggregation !== 'sum' || valueProperty === null || fitting.has(valueProperty)) return null;
  return Object.fromEntries([...fitting, [valueProperty, formatExact(quantity)]]);
}

/** A value for each property that is filtered by, which fits all its filters; null where one has none. */
function fittingAll(filters: readonly Filter[]): ReadonlyMap<string, string> | null {
  const fitting = new Map<string, string>();
  for (const { property, in: values } of filters) {
    const ofProperty = filters.filter((one) => one.property === property);
    const value = values.find((text) => ofProperty.every((one) => one.in.includes(text)));
    if (value === undefined) return null;
    fitting.set(property, value);
  }
  return fitting;
}
