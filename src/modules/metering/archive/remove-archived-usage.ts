import { Injectable, Logger } from '@nestjs/common';
import { Configuration } from '../../../platform/config';
import { Database } from '../../../platform/database';
import type { RecordedFile } from '../domain/archive-file';
import { hourOf } from '../store/counted-sql';
import { ArchiveDirectory } from './archive-directory';
import { ArchiveMetrics } from './archive-metrics';
import { type StoredMonth, UsageArchiveRepository } from './usage-archive.repository';

/**
 * Pause between the commit that records the keys of archived events and the one that deletes them. No statement runs longer than ten
 * minutes, so each statement that stores events sees a key as archived, or its event as stored.
 */
const PAUSE_MS = 15 * 60_000;

const MONTHS_PER_STEP = 200;
const FILES_PER_STEP = 20;
const EVENTS_PER_STEP = 2_000;

/** Months that are written and still stored, oldest first. Another worker may hold some. */
const MONTHS = `
  SELECT stream_id AS "streamId", start_at AS "startAt", end_at AS "endAt", first_file AS "firstFile",
    last_file AS "lastFile"
  FROM usage_archive_month
  WHERE removed_at IS NULL AND written_at <= $1
  ORDER BY written_at LIMIT ${MONTHS_PER_STEP}
  FOR UPDATE SKIP LOCKED`;

const VERIFIED = 'UPDATE usage_archive_file SET verified_at = $3 WHERE month = $1 AND number = $2';

/**
 * Deletes events of months whose keys were recorded with their file. Keeps those of hours in which a registered window begins or
 * ends, because a void counts that window again, from whole hours and the events at its edges.
 */
const DELETE = `
  WITH month AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS month(stream_id, start_at, end_at)
  ),
  kept AS MATERIALIZED (
    SELECT DISTINCT stream_id, ${hourOf('edge')} AS hour
    FROM usage_window CROSS JOIN LATERAL (VALUES (start_at), (end_at)) AS edges(edge)
    WHERE stream_id = ANY($1::bigint[]) AND edge <> ${hourOf('edge')}
  ),
  archived AS MATERIALIZED (
    SELECT event.key_digest FROM month CROSS JOIN LATERAL (
      SELECT key_digest FROM usage_event AS stored
      WHERE EXISTS (SELECT FROM usage_archived_key WHERE key_digest = stored.key_digest)
        AND stream_id = month.stream_id AND occurred_at >= month.start_at AND occurred_at < month.end_at
        AND NOT EXISTS (
          SELECT FROM kept WHERE kept.stream_id = month.stream_id AND kept.hour = ${hourOf('occurred_at')} OFFSET 0)
      LIMIT ${EVENTS_PER_STEP}
    ) AS event
    LIMIT ${EVENTS_PER_STEP}
  ),
  deleted AS (
    DELETE FROM usage_event WHERE key_digest = ANY(ARRAY(SELECT key_digest FROM archived)) RETURNING 1
  )
  SELECT count(*)::int AS deleted FROM deleted`;

const REMOVED = `
  UPDATE usage_archive_month AS month SET removed_at = $3
  FROM unnest($1::bigint[], $2::timestamptz[]) AS removed(stream_id, start_at)
  WHERE month.stream_id = removed.stream_id AND month.start_at = removed.start_at`;

/** Removes archived events from the database, in small commits, once their files were read again and matched. */
@Injectable()
export class RemoveArchivedUsage {
  private readonly logger = new Logger('usage-archive');

  constructor(
    private readonly database: Database,
    private readonly archive: UsageArchiveRepository,
    private readonly configuration: Configuration,
    private readonly metrics: ArchiveMetrics,
  ) {}

  /** Does one step. Returns true if there may be more to do. */
  removeSome(now: Date): Promise<boolean> {
    const { usageArchive } = this.configuration;
    if (usageArchive === null) return Promise.resolve(false);
    return this.database.transaction(async () => {
      const writtenBefore = new Date(now.getTime() - PAUSE_MS);
      const months = await this.database.query<StoredMonth>(MONTHS, [writtenBefore]);
      if (months.length === 0) return false;
      const directory = new ArchiveDirectory(usageArchive.directory);
      await directory.requireMounted(await this.archive.latestFile());
      const unverified = await this.archive.unverifiedFiles(months, FILES_PER_STEP);
      if (unverified.length > 0) {
        return this.verify(unverified, directory, now);
      }
      await this.remove(months, now);
      return true;
    });
  }

  /** Returns false if a file is missing or differs: its events stay until it is back. */
  private async verify(
    files: readonly RecordedFile[],
    directory: ArchiveDirectory,
    now: Date,
  ): Promise<boolean> {
    for (const file of files) {
      const { month, number, name } = file;
      if (!(await directory.matches(file))) {
        this.logger.error(
          { file: name },
          'an archive file is missing or differs; its events are kept',
        );
        return false;
      }
      await this.database.query(VERIFIED, [month, number, now]);
    }
    return true;
  }

  private async remove(months: readonly StoredMonth[], now: Date): Promise<void> {
    const ids = months.map(({ streamId }) => streamId);
    const starts = months.map(({ startAt }) => startAt);
    const ends = months.map(({ endAt }) => endAt);
    const [row] = await this.database.query<{ deleted: number }>(DELETE, [ids, starts, ends]);
    const deleted = row?.deleted ?? 0;
    if (deleted < EVENTS_PER_STEP) await this.database.query(REMOVED, [ids, starts, now]);
    this.database.afterCommit(() => {
      this.metrics.removed.inc(deleted);
    });
    this.logger.log({ events: deleted }, 'removed archived usage events');
  }
}
