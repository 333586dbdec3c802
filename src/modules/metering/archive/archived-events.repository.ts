import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import type { RecordedFile } from '../domain/archive-file';
import { hourOf } from '../store/counted-sql';
import type { StoredMonth } from './usage-archive.repository';

const MONTHS = `
  SELECT month.stream_id AS "streamId", stream.customer_id AS "customerId", month.start_at AS "startAt",
    month.end_at AS "endAt", month.first_file AS "firstFile", month.last_file AS "lastFile"
  FROM usage_archive_month AS month JOIN usage_stream AS stream ON stream.id = month.stream_id
  WHERE month.removed_at IS NULL AND month.written_at <= $1
  ORDER BY month.written_at LIMIT $2
  FOR UPDATE OF month SKIP LOCKED`;

const SET_VERIFIED =
  'UPDATE usage_archive_file SET verified_at = $3 WHERE month = $1 AND number = $2';

/**
 * Deletes archived events of these months from the database. Keeps all events of an hour in which
 * - a registered window (a period with running totals of its own) begins or ends. After one of its events is voided, a
 *   `max`, `latest` or `unique` meter may have to count the events of this hour again;
 * - a window that is registered later may begin or end (decision 210).
 */
const DELETE = `
  WITH month AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS month(stream_id, start_at, end_at)
  ),
  edges AS (
    SELECT stream_id, edge
    FROM usage_window CROSS JOIN LATERAL (VALUES (start_at), (end_at)) AS edges(edge)
    WHERE stream_id = ANY($1::bigint[])
    UNION ALL
    SELECT stream.id, edge
    FROM unnest($5::text[], $6::timestamptz[]) AS later(customer_id, edge) JOIN usage_stream AS stream USING (customer_id)
    WHERE stream.id = ANY($1::bigint[])
  ),
  kept AS MATERIALIZED (
    SELECT DISTINCT stream_id, ${hourOf('edge')} AS hour FROM edges WHERE edge <> ${hourOf('edge')}
  ),
  archived AS MATERIALIZED (
    SELECT event.key_digest FROM month CROSS JOIN LATERAL (
      SELECT key_digest FROM usage_event AS stored
      WHERE EXISTS (SELECT FROM usage_archived_key WHERE key_digest = stored.key_digest)
        AND stream_id = month.stream_id AND occurred_at >= month.start_at AND occurred_at < month.end_at
        AND NOT EXISTS (
          SELECT FROM kept WHERE kept.stream_id = month.stream_id AND kept.hour = ${hourOf('occurred_at')} OFFSET 0)
      LIMIT $4
    ) AS event
    LIMIT $4
  ),
  deleted AS (
    DELETE FROM usage_event WHERE key_digest = ANY(ARRAY(SELECT key_digest FROM archived)) RETURNING 1
  )
  SELECT count(*)::int AS deleted FROM deleted`;

const REMOVED = `
  UPDATE usage_archive_month AS month SET removed_at = $3
  FROM unnest($1::bigint[], $2::timestamptz[]) AS removed(stream_id, start_at)
  WHERE month.stream_id = removed.stream_id AND month.start_at = removed.start_at`;

/** Instant at which a usage window that is opened for this customer later may begin or end. See decision 210. */
export interface WindowEdge {
  readonly customerId: string;
  readonly at: Date;
}

/** Finds months whose archived events are still in the database, and deletes these events. */
@Injectable()
export class ArchivedEventsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Locks and returns months of streams that were written to files at or before `writtenBy`, and whose events are still
   * in the database. Ordered by the time of writing. Skips months that another worker has locked.
   */
  claim(writtenBy: Date, limit: number): Promise<readonly StoredMonth[]> {
    this.database.requireTransaction();
    return this.database.query<StoredMonth>(MONTHS, [writtenBy, limit]);
  }

  async setVerified({ month, number }: RecordedFile, now: Date): Promise<void> {
    await this.database.query(SET_VERIFIED, [month, number, now]);
  }

  /**
   * Deletes at most `limit` archived events of these months, and returns their number. Keeps the events of hours in
   * which a usage window begins or ends. If it deletes fewer than `limit`, records that the months are finished.
   * @param windowEdges starts and ends of windows that may be opened later; the events of their hours are kept as well
   */
  async remove(
    months: readonly StoredMonth[],
    windowEdges: readonly WindowEdge[],
    limit: number,
    now: Date,
  ): Promise<number> {
    this.database.requireTransaction();
    const ids = months.map(({ streamId }) => streamId);
    const starts = months.map(({ startAt }) => startAt);
    const ends = months.map(({ endAt }) => endAt);
    const deleted = await this.database.queryValue<number>(DELETE, [
      ids,
      starts,
      ends,
      limit,
      windowEdges.map(({ customerId }) => customerId),
      windowEdges.map(({ at }) => at),
    ]);
    if ((deleted ?? 0) < limit) await this.database.query(REMOVED, [ids, starts, now]);
    return deleted ?? 0;
  }
}
