/**
 * SQL for the end of the last archived month of a stream; null if there is none. Events before that instant are in files, and may
 * be missing in the database.
 */
export const archivedBefore = (stream: string): string => `
  (SELECT max(end_at) FROM usage_archive_month WHERE stream_id = ${stream} AND written_at IS NOT NULL)`;
