/**
 * SQL of a lateral subquery that looks up the entry of `change`. `OFFSET 0` makes PostgreSQL run the subquery for each
 * change. As a plain join by id and time, PostgreSQL could read all later entries or changes, because its estimate is
 * one row.
 */
export const ENTRY_OF_CHANGE = `
  SELECT * FROM audit_log AS entry
  WHERE entry.id = change.entry_id AND entry.created_at = change.created_at OFFSET 0`;
