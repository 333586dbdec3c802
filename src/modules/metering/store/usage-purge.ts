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

/** Locks the streams first, so that no event is stored while its stream is being purged. */
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
