import type { Aggregation } from '../../../core/usage';

/** Aggregations whose value over all customers can be calculated from hourly totals. */
export const TOTALLED_AGGREGATIONS = [
  'count',
  'sum',
  'max',
] as const satisfies readonly Aggregation[];
export type TotalledAggregation = (typeof TOTALLED_AGGREGATIONS)[number];

export function isTotalled(aggregation: Aggregation): aggregation is TotalledAggregation {
  return TOTALLED_AGGREGATIONS.some((totalled) => totalled === aggregation);
}
