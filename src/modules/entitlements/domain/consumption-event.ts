import { compare, formatExact, rational, type Rational } from '../../../core/decimal';

interface MeterRules {
  readonly aggregation: string;
  readonly valueProperty: string | null;
  readonly filters: readonly Filter[];
}

interface Filter {
  readonly property: string;
  readonly in: readonly string[];
}

/**
 * Returns the properties of an event that the meter counts as exactly this quantity; null if there is no such event.
 * - A `sum` meter can count any quantity, unless a filter applies to the property that it sums.
 * - A `count` meter can count only the quantity 1. Other meters can count none.
 * - Each filtered property gets the first value that passes all filters of the property.
 */
export function eventPropertiesOf(
  { aggregation, valueProperty, filters }: MeterRules,
  quantity: Rational,
): Readonly<Record<string, string>> | null {
  const fitting = matchingValues(filters);
  if (fitting === null) return null;
  if (aggregation === 'count') {
    return compare(quantity, rational(1n)) === 0 ? Object.fromEntries(fitting) : null;
  }
  if (aggregation !== 'sum' || valueProperty === null || fitting.has(valueProperty)) return null;
  return Object.fromEntries([...fitting, [valueProperty, formatExact(quantity)]]);
}

/**
 * Returns, by property, the first value that passes all filters of the property; null if a property has no such value.
 */
function matchingValues(filters: readonly Filter[]): ReadonlyMap<string, string> | null {
  const fitting = new Map<string, string>();
  for (const { property, in: values } of filters) {
    const ofProperty = filters.filter((one) => one.property === property);
    const value = values.find((text) => ofProperty.every((one) => one.in.includes(text)));
    if (value === undefined) return null;
    fitting.set(property, value);
  }
  return fitting;
}
