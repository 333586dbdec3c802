/**
 * Ways to combine the events of a period into one quantity. For `weighted_sum`, each value is a change that lasts from
 * its event to the end of the period. The quantity is the sum of (value x milliseconds to the end of the period),
 * divided by the milliseconds of the period. For example, 10 seats added halfway through the period give 5.
 */
export const AGGREGATIONS = ['count', 'sum', 'max', 'unique', 'latest', 'weighted_sum'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];
