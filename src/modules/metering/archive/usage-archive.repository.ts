import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { Database } from '../../../platform/database';
import type { RecordedFile } from '../domain/archive-file';
import { CLOSABLE, NEXT_STREAMS } from './streams-to-archive-sql';
import { UsageArchiveFileEntity } from './usage-archive-file.entity';
import { UsageArchiveProgressEntity } from './usage-archive-progress.entity';

export type ArchiveProgress = UsageArchiveProgressEntity;

const CREATE_PROGRESS = `
  INSERT INTO usage_archive_progress (id, before_at, next_stream_id, streams, file_number, ended_at)
  VALUES (1, 'epoch', 0, '{}', 1, 'epoch')
  ON CONFLICT DO NOTHING`;

const LOCK_PROGRESS = 'WHERE id = 1 FOR UPDATE SKIP LOCKED';

const BLOCK = 'SELECT FROM usage_archive_progress WHERE id = 1 FOR SHARE';

const ADVANCE = `
  UPDATE usage_archive_progress SET before_at = $1, month = $2, next_stream_id = $3, next_month = $4, streams = $5,
    file_number = $6, after_at = $7, after_key = $8, ended_at = $9, kept_from_at = $10
  WHERE id = 1`;

const OLDEST_MONTH = 'SELECT kept_from_at FROM usage_archive_progress';

const IS_BACKFILLING = 'SELECT FROM meter_backfill LIMIT 1';

const CLOSE = `
  UPDATE usage_stream AS stream SET closed_before = closed.before, version = version + 1
  FROM unnest($1::bigint[], $2::timestamptz[]) AS closed(id, before)
  WHERE stream.id = closed.id`;

/** Inserts closed months. If a month was closed before and its file could not be written, updates the existing row. */
const INSERT_MONTHS = `
  INSERT INTO usage_archive_month (stream_id, start_at, end_at, first_file)
  SELECT id, $2, $3, $4 FROM unnest($1::bigint[]) AS id
  ON CONFLICT (stream_id, start_at) DO UPDATE SET end_at = excluded.end_at, first_file = excluded.first_file`;

const NEXT_FILE = `
  SELECT coalesce(max(number), 0) + 1 AS number FROM usage_archive_file WHERE month = $1`;

/** At most $5 events of each stream. Ordered by stream, timestamp and key, because digests of keys need this order. */
const EVENTS = `
  SELECT event.stream_id AS "streamId", stream.customer_id AS "customerId", stream.event_name AS "eventName",
    event.key_digest AS "keyDigest", event.idempotency_key AS "idempotencyKey", event.occurred_at AS "timestamp",
    event.properties::text AS properties, event.position, event.received_at AS "receivedAt",
    event.voided_at AS "voidedAt", event.voided_position AS "voidedPosition"
  FROM usage_stream AS stream CROSS JOIN LATERAL (
    SELECT * FROM usage_event
    WHERE stream_id = stream.id AND occurred_at >= $3 AND occurred_at < $2 AND (occurred_at, idempotency_key) > ($3, $4)
    ORDER BY occurred_at, idempotency_key LIMIT $5
  ) AS event
  WHERE stream.id = ANY($1::bigint[])
  ORDER BY event.stream_id, event.occurred_at, event.idempotency_key`;

const FILES = 'WHERE (month, number) < ($1, $2::bigint) ORDER BY month DESC, number DESC LIMIT $3';

const LAST_FILE_OF_NEWEST_MONTH = 'ORDER BY month DESC, number DESC LIMIT 1';

const FILES_OF_MONTHS = `
  WHERE (month, number) IN (
    SELECT DISTINCT start_at, number
    FROM unnest($1::timestamptz[], $2::int[], $3::int[]) AS month(start_at, first_file, last_file)
    CROSS JOIN LATERAL generate_series(first_file, last_file) AS number
  )
  ORDER BY month, number`;

/** Deletes the files that were recorded since the month of stream $1 was last closed. */
const DELETE_FILES = `
  DELETE FROM usage_archive_file AS file USING usage_archive_month AS month
  WHERE month.stream_id = $1 AND month.start_at = $2 AND file.month = $2 AND file.number >= month.first_file`;

const INSERT_KEYS = `
  INSERT INTO usage_archived_key (key_digest)
  SELECT key_digest FROM unnest($1::uuid[]) AS key_digest ORDER BY key_digest
  ON CONFLICT DO NOTHING`;

const FINISH_MONTHS = `
  UPDATE usage_archive_month AS month SET last_file = $3, events = written.events, voided = written.voided,
    digest = written.digest, written_at = $4, hours = ARRAY(
      SELECT DISTINCT floor(extract(epoch FROM occurred_at - month.start_at) / 3600)::smallint FROM usage_event
      WHERE stream_id = month.stream_id AND occurred_at >= month.start_at AND occurred_at < month.end_at
      ORDER BY 1
    )
  FROM unnest($1::bigint[], $5::bigint[], $6::bigint[], $7::text[]) AS written(stream_id, events, voided, digest)
  WHERE month.stream_id = written.stream_id AND month.start_at = $2`;

const COUNT_VOIDED = `
  SELECT count(*) AS events, count(voided_at) AS voided FROM usage_event
  WHERE stream_id = $1 AND occurred_at >= $2 AND occurred_at < $3`;

/** A stream (one customer, one event name) that may have events to archive. */
export interface StreamToArchive {
  readonly id: string;
  readonly customerId: string;
  /** Earliest month with events that are older than the retention period and not archived; null if there is none. */
  readonly month: Date | null;
  /**
   * Number of events in the month that is being archived; null if they were not counted. Too small if the streams
   * together have more than `maxEvents` events, because counting then stops
   * ({@link UsageArchiveRepository.nextStreams}).
   */
  readonly events: string | null;
}

export interface ClosableStream {
  readonly id: string;
  readonly closedBefore: Date;
  /**
   * Number of events in the month. Too small if the streams together have more than `maxEvents` events, because
   * counting then stops ({@link UsageArchiveRepository.closable}).
   */
  readonly events: string;
}

export interface ArchivedEvent {
  readonly streamId: string;
  readonly customerId: string;
  readonly eventName: string;
  readonly keyDigest: string;
  readonly idempotencyKey: string;
  readonly timestamp: Date;
  /** As JSON text, so that no number is rounded. */
  readonly properties: string;
  readonly position: string;
  readonly receivedAt: Date;
  readonly voidedAt: Date | null;
  readonly voidedPosition: string | null;
}

/** A month of a stream that was written to archive files, and whose events are still in the database. */
export interface StoredMonth {
  readonly streamId: string;
  readonly customerId: string;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly firstFile: number;
  readonly lastFile: number;
}

/** A month of a stream that was written to files. `digest` is the digest of the keys of its events. */
export interface WrittenMonth {
  readonly streamId: string;
  readonly events: number;
  readonly voided: number;
  readonly digest: string;
}

/** Stores the progress of the archive, its files, and the closed months. */
@Injectable()
export class UsageArchiveRepository {
  constructor(private readonly database: Database) {}

  /** Locks the progress until the transaction ends. Returns null if another worker has locked it. */
  async lock(): Promise<ArchiveProgress | null> {
    const found = () => this.database.selectOne(UsageArchiveProgressEntity, LOCK_PROGRESS, []);
    const progress = await found();
    if (progress !== null) return progress;
    await this.database.query(CREATE_PROGRESS);
    return found();
  }

  /** Waits until the running step of archiving has ended, and prevents further steps until the transaction ends. */
  async block(): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(CREATE_PROGRESS);
    await this.database.query(BLOCK);
  }

  async advance(progress: ArchiveProgress): Promise<void> {
    await this.database.query(ADVANCE, [
      progress.beforeAt,
      progress.month,
      progress.lastStreamId,
      progress.nextMonth,
      progress.streams,
      progress.fileNumber,
      progress.afterAt,
      progress.afterKey,
      progress.endedAt,
      progress.keptFromAt,
    ]);
  }

  /**
   * Returns the next streams after `lastStreamId`, including streams without events to archive.
   * @param maxEvents once more events than this are found, no further events are counted
   */
  nextStreams(
    { lastStreamId, beforeAt, month }: ArchiveProgress,
    limit: number,
    maxEvents: number,
  ): Promise<readonly StreamToArchive[]> {
    const parameters = [lastStreamId, limit, beforeAt, month, maxEvents];
    return this.database.query<StreamToArchive>(NEXT_STREAMS, parameters);
  }

  /**
   * Returns the start of the earliest month that had unarchived events when the last search began. If no month had any,
   * returns the start of the retention period. Null before the first search.
   */
  oldestMonth(): Promise<Date | null> {
    return this.database.queryValue<Date>(OLDEST_MONTH);
  }

  /**
   * Returns true if a backfill is running. A backfill counts events that were stored before their meter was created.
   */
  async isBackfilling(): Promise<boolean> {
    return (await this.database.query(IS_BACKFILLING)).length > 0;
  }

  /**
   * Returns the locked streams whose month can be closed.
   * @param maxEvents once more events than this are found, no further events are counted
   */
  closable(
    ids: readonly string[],
    { startAt, endAt }: Period,
    beforeAt: Date,
    maxEvents: number,
  ): Promise<readonly ClosableStream[]> {
    const parameters = [ids, endAt, beforeAt, startAt, maxEvents];
    return this.database.query<ClosableStream>(CLOSABLE, parameters);
  }

  async close(
    streams: readonly ClosableStream[],
    { startAt, endAt }: Period,
    fileNumber: number,
  ): Promise<void> {
    const ids = streams.map(({ id }) => id);
    await this.database.query(CLOSE, [ids, streams.map(({ closedBefore }) => closedBefore)]);
    await this.database.query(INSERT_MONTHS, [ids, startAt, endAt, fileNumber]);
  }

  async nextFile(month: Date): Promise<number> {
    return (await this.database.queryValue<number>(NEXT_FILE, [month])) ?? 1;
  }

  /** Returns events of the closed month that are not written yet, at most `limit` of each stream. */
  events(
    { streams, afterAt, afterKey }: ArchiveProgress,
    { startAt, endAt }: Period,
    limit: number,
  ): Promise<readonly ArchivedEvent[]> {
    const parameters = [streams, endAt, afterAt ?? startAt, afterKey ?? '', limit];
    return this.database.query<ArchivedEvent>(EVENTS, parameters);
  }

  /** Records a file that is on disk, and the keys of its events. */
  async recordFile(file: RecordedFile, keyDigests: readonly string[]): Promise<void> {
    await this.database.insert(UsageArchiveFileEntity, file);
    await this.database.query(INSERT_KEYS, [keyDigests]);
    // Updates the statistics when the file number is a power of two. Otherwise, ingest statements that were planned
    // while the table was small would continue to read the whole table.
    if (Number.isInteger(Math.log2(file.number)))
      await this.database.query('ANALYZE usage_archived_key');
  }

  /** Deletes the records of the files that were written for a month of a stream, which is then left to a later search. */
  async deleteFiles(streamId: string, month: Date): Promise<void> {
    await this.database.query(DELETE_FILES, [streamId, month]);
  }

  filesBefore(month: Date, number: string, limit: number): Promise<readonly RecordedFile[]> {
    return this.database.select(UsageArchiveFileEntity, FILES, [month, number, limit]);
  }

  lastFileOfNewestMonth(): Promise<RecordedFile | null> {
    return this.database.selectOne(UsageArchiveFileEntity, LAST_FILE_OF_NEWEST_MONTH, []);
  }

  filesOf(months: readonly StoredMonth[]): Promise<readonly RecordedFile[]> {
    return this.database.select(UsageArchiveFileEntity, FILES_OF_MONTHS, [
      months.map(({ startAt }) => startAt),
      months.map(({ firstFile }) => firstFile),
      months.map(({ lastFile }) => lastFile),
    ]);
  }

  /** Records that all files with events of these streams in a month are written. */
  async finishMonths(
    written: readonly WrittenMonth[],
    month: Date,
    lastFile: number,
    now: Date,
  ): Promise<void> {
    await this.database.query(FINISH_MONTHS, [
      written.map(({ streamId }) => streamId),
      month,
      lastFile,
      now,
      written.map(({ events }) => events),
      written.map(({ voided }) => voided),
      written.map(({ digest }) => digest),
    ]);
  }

  async count(streamId: string, { startAt, endAt }: Period): Promise<Omit<WrittenMonth, 'digest'>> {
    const [row] = await this.database.query<{ events: string; voided: string }>(COUNT_VOIDED, [
      streamId,
      startAt,
      endAt,
    ]);
    return { streamId, events: Number(row?.events ?? 0), voided: Number(row?.voided ?? 0) };
  }
}
