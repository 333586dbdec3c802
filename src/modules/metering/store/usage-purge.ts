import { purgeProvider } from '../../test-clocks';
import { LOCK_STREAMS } from './usage-streams';

/** Tables that refer to a stream. The streams themselves are deleted last. */
const PARTS = [
  'usage_billed',
  'usage_window',
  'usage_distinct_value',
  'usage_bucket',
  'usage_tally',
  'usage_event',
];

/**
 * Deletes the usage of customers who are purged. Locks their streams first, so that no event is stored during the
 * purge.
 */
export const usagePurge = purgeProvider('usage', [
  LOCK_STREAMS,
  ...PARTS.map(
    (table) => `
      DELETE FROM ${table}
      WHERE stream_id IN (SELECT id FROM usage_stream WHERE customer_id = ANY ($1))`,
  ),
  'DELETE FROM usage_closed_subscription WHERE customer_id = ANY ($1)',
  'DELETE FROM usage_stream WHERE customer_id = ANY ($1)',
]);
