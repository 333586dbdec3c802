/**
 * SQL of a lateral subquery that looks up the entry of `change`, as `OFFSET 0` enforces. PostgreSQL expects one row of a
 * join by id and time, and would read all later entries or changes.
 */
export const ENTRY_OF_CHANGE = `
  SELECT * FROM audit_log AS entry
  WHERE entry.id = change.entry_id AND entry.created_at = change.created_at OFFSET 0`;
