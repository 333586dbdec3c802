import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { Database, type Page, type PageRequest } from '../../../platform/database';
import { invalidCursor } from '../../../platform/errors';
import type { RecordedFile } from '../domain/archive-file';
import type { ArchivedMonth } from '../domain/archived-month';
import { usageArchived } from '../usage.errors';
import type { BilledPeriod } from '../usage-billed.repository';
import { archivedBefore } from './archived-sql';
import { UsageArchiveRepository } from './usage-archive.repository';

const COLUMNS = `
  stream.customer_id AS "customerId", stream.event_name AS "eventName", month.stream_id AS "streamId",
  month.start_at AS "startAt", month.end_at AS "endAt", month.events::float8 AS events, month.voided::float8 AS voided, month.digest,
  ARRAY(
    SELECT name FROM usage_archive_file AS file
    WHERE file.month = month.start_at AND file.number BETWEEN month.first_file AND month.last_file ORDER BY number
  ) AS files`;

const IN_PERIODS = `
  SELECT asked.number::integer, ${COLUMNS}
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[])
    WITH ORDINALITY AS asked(customer_id, event_name, start_at, end_at, number)
    JOIN usage_stream AS stream USING (customer_id, event_name)
    JOIN usage_archive_month AS month ON month.stream_id = stream.id AND month.written_at IS NOT NULL
      AND month.start_at < asked.end_at AND month.end_at > asked.start_at
  ORDER BY month.start_at`;

/** Reads a page of each stream of the customer by index, then the page over all streams. */
const PAGE = `
  SELECT ${COLUMNS}
  FROM usage_stream AS stream CROSS JOIN LATERAL (
    SELECT * FROM usage_archive_month
    WHERE stream_id = stream.id AND written_at IS NOT NULL AND (start_at, stream_id) < ($3, $4)
    ORDER BY start_at DESC LIMIT $5
  ) AS month
  WHERE stream.customer_id = $1 AND ($2::text IS NULL OR stream.event_name = $2)
  ORDER BY month.start_at DESC, month.stream_id DESC
  LIMIT $5`;

/** End of the archived months of a stream, if an hour that a part of a range lies in has archived events. */
const MISSING = `
  SELECT archived.before_at AS "archivedBefore"
  FROM (SELECT ${archivedBefore('$1::bigint')} AS before_at) AS archived
  WHERE archived.before_at IS NOT NULL AND EXISTS (
    SELECT FROM unnest($2::timestamptz[], $3::timestamptz[]) AS range(start_at, end_at)
    JOIN usage_tally AS tally ON tally.stream_id = $1 AND tally.accepted > 0
      AND tally.hour > range.start_at - interval '1 hour' AND tally.hour < least(range.end_at, archived.before_at)
  )`;

/** End of an archived month of a stream of this name that has archived events in an hour that a range lies in. */
const MISSING_OF_NAME = `
  SELECT month.end_at AS "archivedBefore"
  FROM unnest($2::timestamptz[], $3::timestamptz[]) AS range(start_at, end_at)
  JOIN usage_stream AS stream ON stream.event_name = $1
  JOIN usage_archive_month AS month ON month.stream_id = stream.id AND month.written_at IS NOT NULL
    AND month.start_at < range.end_at AND month.end_at > range.start_at
  JOIN usage_tally AS tally ON tally.stream_id = stream.id AND tally.accepted > 0
    AND tally.hour > range.start_at - interval '1 hour' AND tally.hour < range.end_at
    AND tally.hour >= month.start_at AND tally.hour < month.end_at
  LIMIT 1`;

/** Locks the streams, so that no month of theirs is closed until the transaction ends. */
const OF_BILLED_PERIODS = `
  WITH billed AS MATERIALIZED (
    SELECT DISTINCT billed.stream_id, billed.period_start_at
    FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS one(item_id, start_at, end_at)
    JOIN usage_billed AS billed ON billed.item_id = one.item_id
      AND billed.period_start_at = one.start_at AND billed.period_end_at = one.end_at
  ),
  locked AS MATERIALIZED (
    SELECT id, closed_before FROM usage_stream WHERE id IN (SELECT stream_id FROM billed) ORDER BY id FOR UPDATE
  )
  SELECT locked.closed_before AS "archivedBefore"
  FROM billed JOIN locked ON locked.id = billed.stream_id
  WHERE locked.closed_before > billed.period_start_at
  LIMIT 1`;

/** With months that are closed but not written yet: their events will be archived. */
const CLOSED_OF_CUSTOMER = `
  SELECT max(month.end_at) AS "archivedBefore"
  FROM usage_stream AS stream JOIN usage_archive_month AS month ON month.stream_id = stream.id
  WHERE stream.customer_id = $1`;

const LAST_OF_NAME = `
  SELECT max(${archivedBefore('stream.id')}) AS "archivedBefore" FROM usage_stream AS stream WHERE event_name = $1`;

/** After every possible month. */
const LAST = new Date('9999-12-31T00:00:00.000Z');

/** Months of which an answer shows the archived events. */
export interface ArchivedQuery {
  readonly customerId: string;
  readonly eventName: string;
  readonly period: Period;
}

interface NumberedMonthRow extends MonthRow {
  /** Position of the query from 1. */
  readonly number: number;
}

interface MonthRow extends ArchivedMonth {
  readonly streamId: string;
}

/** Tells what is archived, and refuses what needs events that are archived. */
@Injectable()
export class ArchivedUsage {
  constructor(
    private readonly database: Database,
    private readonly archive: UsageArchiveRepository,
  ) {}

  /** Returns for each query the archived months of its stream that overlap its period, oldest first. */
  async monthsIn(
    queries: readonly ArchivedQuery[],
  ): Promise<readonly (readonly ArchivedMonth[])[]> {
    if (queries.length === 0) return [];
    const rows = await this.database.query<NumberedMonthRow>(IN_PERIODS, [
      queries.map(({ customerId }) => customerId),
      queries.map(({ eventName }) => eventName),
      queries.map(({ period }) => period.startAt),
      queries.map(({ period }) => period.endAt),
    ]);
    const found = queries.map((): ArchivedMonth[] => []);
    for (const { number, ...row } of rows) found[number - 1]?.push(toMonth(row));
    return found;
  }

  /**
   * Returns archived months of a customer, newest first.
   * @param eventName null: all
   * @throws {ProblemError} `invalid_cursor`
   */
  async list(
    customerId: string,
    eventName: string | null,
    { limit, after }: PageRequest,
  ): Promise<Page<ArchivedMonth>> {
    const [startAt, stream] = after === null ? [LAST, '0'] : parseCursor(after);
    const rows = await this.database.query<MonthRow>(PAGE, [
      customerId,
      eventName,
      startAt,
      stream,
      limit + 1,
    ]);
    const page = pageOf(rows, limit, (row) => [row.startAt, row.streamId]);
    return { ...page, items: page.items.map(toMonth) };
  }

  /**
   * Returns the files of the archive, the newest month first.
   * @throws {ProblemError} `invalid_cursor`
   */
  async files({ limit, after }: PageRequest): Promise<Page<RecordedFile>> {
    const [month, number] = after === null ? [LAST, '0'] : parseCursor(after);
    const rows = await this.archive.filesBefore(month, number, limit + 1);
    return pageOf(rows, limit, (file) => [file.month, String(file.number)]);
  }

  /** Returns the end of the archived months of a stream; null if none is archived. */
  async archivedBefore(stream: string): Promise<Date | null> {
    const [row] = await this.database.query<{ archivedBefore: Date | null }>(
      `SELECT ${archivedBefore('$1::bigint')} AS "archivedBefore"`,
      [stream],
    );
    return row?.archivedBefore ?? null;
  }

  /** Returns the end of the last archived month of all streams of an event name; null if none is archived. */
  async archivedBeforeOf(eventName: string): Promise<Date | null> {
    const [row] = await this.database.query<{ archivedBefore: Date | null }>(LAST_OF_NAME, [
      eventName,
    ]);
    return row?.archivedBefore ?? null;
  }

  /**
   * Requires that the events of these ranges are stored: whole hours can be read from totals, the rest from events alone.
   * @throws {ProblemError} `usage_archived`
   */
  requireStored(stream: string, ranges: readonly Period[]): Promise<void> {
    return this.require(MISSING, stream, ranges);
  }

  /**
   * Requires the same of all streams of an event name.
   * @throws {ProblemError} `usage_archived`
   */
  requireStoredOf(eventName: string, ranges: readonly Period[]): Promise<void> {
    return this.require(MISSING_OF_NAME, eventName, ranges);
  }

  /**
   * Requires that usage of a customer from an instant on can be billed. Where the streams of the customer are locked, this stays so
   * until the transaction ends.
   * @throws {ProblemError} `usage_archived`
   */
  async requireStoredSince(customerId: string, since: Date): Promise<void> {
    const [row] = await this.database.query<{ archivedBefore: Date | null }>(CLOSED_OF_CUSTOMER, [
      customerId,
    ]);
    const before = row?.archivedBefore ?? since;
    if (since < before) throw usageArchived(before, 'Metered prices can start from then on.');
  }

  /**
   * Requires that no event of these billed periods is archived.
   * @throws {ProblemError} `usage_archived`
   */
  async requireOpen(periods: readonly BilledPeriod[]): Promise<void> {
    const [row] = await this.database.query<{ archivedBefore: Date }>(OF_BILLED_PERIODS, [
      periods.map(({ itemId }) => itemId),
      periods.map(({ startAt }) => startAt),
      periods.map(({ endAt }) => endAt),
    ]);
    if (row !== undefined) throw usageArchived(row.archivedBefore);
  }

  private async require(sql: string, of: string, ranges: readonly Period[]): Promise<void> {
    if (ranges.length === 0) return;
    const [row] = await this.database.query<{ archivedBefore: Date }>(sql, [
      of,
      ranges.map(({ startAt }) => startAt),
      ranges.map(({ endAt }) => endAt),
    ]);
    if (row !== undefined) throw usageArchived(row.archivedBefore);
  }
}

function toMonth({ streamId, ...month }: MonthRow): ArchivedMonth {
  return month;
}

function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => readonly [Date, string],
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (rows.length <= limit || last === undefined) return { items, next: null };
  const [startAt, number] = keyOf(last);
  return { items, next: `${startAt.getTime()}.${number}` };
}

/** @throws {ProblemError} `invalid_cursor` */
function parseCursor(cursor: string): readonly [Date, string] {
  const [, ms, number] = /^(-?\d{1,14})\.(\d{1,9})$/.exec(cursor) ?? [];
  if (ms === undefined || number === undefined) throw invalidCursor();
  return [new Date(Number(ms)), number];
}
