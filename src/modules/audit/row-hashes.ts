import { ENTRY_OF_CHANGE } from './entry-of-change';
import { unpackedSql } from './unpacked-changes';

/**
 * Returns SQL for the positions and hashes of changes. Hashes only text and numbers, because these do not depend on
 * session settings. The hash does not depend on where the values of the change are stored: in its row, or in a pack
 * (the values of several changes, stored in one row).
 * @param changes table or partition of the changes
 * @param condition SQL condition on `position`
 */
export function rowHashesSql(changes: string, condition: string): string {
  return `
    SELECT change.position, sha256(convert_to(json_build_array(
      change.position, change.entry_id, (extract(epoch FROM change.created_at) * 1000)::bigint,
      change.action, change.object_id, change.fields::text,
      entry.actor_type, entry.actor_id, entry.operation, entry.request_id, entry.address
    )::text, 'UTF8')) AS row_hash
    FROM (${unpackedSql(`SELECT * FROM "${changes}" WHERE ${condition}`, changes)}) AS change
    LEFT JOIN LATERAL (${ENTRY_OF_CHANGE}) AS entry ON true`;
}
