/** End of the last archived month of a stream; null if none is. Events before it are in files, and not all of them are stored. */
export const archivedBefore = (stream: string): string => `
  (SELECT max(end_at) FROM usage_archive_month WHERE stream_id = ${stream} AND written_at IS NOT NULL)`;
