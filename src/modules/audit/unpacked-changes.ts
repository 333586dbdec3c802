/**
 * Returns SQL that adds the column `fields` to selected changes. The column has the values of each change, from
 * `changes` or from a pack (the values of several changes, stored in one row). Reads each pack once.
 * @param found SELECT of changes, with position, created_at, changes, pack_position and pack_place
 * @param changes table or partition of the changes
 */
export function unpackedSql(found: string, changes = 'audit_change'): string {
  return `
    WITH found AS MATERIALIZED (${found}),
    unpacked AS (
      SELECT pack_position, entry.place, entry.fields
      FROM (SELECT DISTINCT pack_position, created_at FROM found WHERE pack_position IS NOT NULL) AS needed
      CROSS JOIN LATERAL (
        SELECT pack FROM "${changes}" AS first
        WHERE first.position = needed.pack_position AND first.created_at = needed.created_at OFFSET 0) AS first
      CROSS JOIN LATERAL unnest(first.pack) WITH ORDINALITY AS entry (fields, place))
    SELECT found.*, CASE WHEN found.pack_position IS NULL THEN found.changes ELSE unpacked.fields END AS fields
    FROM found LEFT JOIN unpacked
      ON unpacked.pack_position = found.pack_position AND unpacked.place = found.pack_place`;
}
