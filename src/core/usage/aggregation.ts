/**
 * Aggregations of the events of a period into a quantity. `weighted_sum`: each value is a change that lasts from its event to
 * the end of the period; the result is the sum of value x milliseconds until the end / milliseconds of the period.
 */
export const AGGREGATIONS = ['count', 'sum', 'max', 'unique', 'latest', 'weighted_sum'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];
