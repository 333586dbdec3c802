import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { Database } from '../../../platform/database';
import type { ArchivedMonth } from '../domain/archived-month';
import { type BilledPeriod, columnsOfPeriods } from '../usage-billed.repository';
import { archivedBefore, deletedEvents, NEEDED_FROM, WRITTEN_BEFORE_METER } from './archived-sql';

const COLUMNS = `
  stream.customer_id AS "customerId", stream.event_name AS "eventName", month.stream_id AS "streamId",
  month.start_at AS "startAt", month.end_at AS "endAt", month.events::float8 AS events, month.voided::float8 AS voided, month.digest,
  ARRAY(
    SELECT name FROM usage_archive_file AS file
    WHERE file.month = month.start_at AND file.number BETWEEN month.first_file AND month.last_file ORDER BY number
  ) AS files`;

const IN_PERIODS = `
  SELECT requested.number::integer, ${COLUMNS}
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[])
    WITH ORDINALITY AS requested(customer_id, event_name, start_at, end_at, number)
    JOIN usage_stream AS stream USING (customer_id, event_name)
    JOIN usage_archive_month AS month ON month.stream_id = stream.id AND month.written_at IS NOT NULL
      AND month.start_at < requested.end_at AND month.end_at > requested.start_at
  ORDER BY month.start_at`;

/**
 * Newest archived months of a customer. Merges one page of each of the customer's streams (one stream per event name).
 * The page of a stream is read by index.
 */
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

/**
 * FROM items and WHERE condition that select archived months (`month`) with events in an hour that overlaps a `range`.
 * If it is unknown which hours have events, selects all months that overlap a range.
 * @param condition further SQL condition on such an hour, which starts at `used.start_at`
 */
const withHoursOf = (condition: string): string => `
  usage_archive_month AS month
  JOIN unnest($2::timestamptz[], $3::timestamptz[]) AS range(start_at, end_at)
    ON month.start_at < range.end_at AND month.end_at > range.start_at
  WHERE month.written_at IS NOT NULL AND (month.hours IS NULL OR EXISTS (
    SELECT FROM unnest(month.hours) AS hour(number) CROSS JOIN LATERAL (
      SELECT month.start_at + number * interval '1 hour' AS start_at
    ) AS used
    WHERE used.start_at > range.start_at - interval '1 hour' AND used.start_at < range.end_at AND ${condition}
  ))`;

/**
 * End of the last archived month of a stream, if the hours of a range lack events. A meter does not count events that
 * were archived before its creation. For this meter, such events are lacking even if they are not deleted.
 */
const MISSING = `
  SELECT ${archivedBefore('$1::bigint')} AS "archivedBefore"
  FROM ${withHoursOf(`(
    $5 OR EXISTS (SELECT FROM meter WHERE meter.id = $4 AND ${WRITTEN_BEFORE_METER})
    OR ${deletedEvents('$1', '$4', 'used.start_at')} <> 0
  )`)} AND month.stream_id = $1
  LIMIT 1`;

const MISSING_OF_NAME = `
  SELECT month.end_at AS "archivedBefore"
  FROM usage_stream AS stream CROSS JOIN LATERAL (
    SELECT month.end_at FROM ${withHoursOf('true')} AND month.stream_id = stream.id LIMIT 1
  ) AS month
  WHERE stream.event_name = $1
  LIMIT 1`;

const OF_BILLED_PERIODS = `
  WITH billed AS MATERIALIZED (
    SELECT one.number, billed.stream_id, min(${NEEDED_FROM}) AS needed_from, max(billed.created_at) AS billed_at,
      bool_or(is_late) AS is_late
    FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS one(item_id, start_at, end_at, number)
    JOIN usage_billed AS billed ON billed.item_id = one.item_id
      AND billed.period_start_at = one.start_at AND billed.period_end_at = one.end_at
    JOIN meter ON meter.id = billed.meter_id
    GROUP BY one.number, billed.stream_id
  ),
  locked AS MATERIALIZED (
    SELECT id, closed_before FROM usage_stream WHERE id IN (SELECT stream_id FROM billed) ORDER BY id FOR UPDATE
  )
  SELECT billed.number::integer, locked.closed_before AS "archivedBefore",
    CASE WHEN NOT billed.is_late THEN billed.billed_at END AS "billedAt"
  FROM billed JOIN locked ON locked.id = billed.stream_id
  WHERE locked.closed_before > billed.needed_from`;

/** End of the newest closed month of a customer. Includes months that are closed but not written to files yet. */
const CLOSED_OF_CUSTOMER = `
  SELECT max(month.end_at) AS "archivedBefore"
  FROM usage_stream AS stream JOIN usage_archive_month AS month ON month.stream_id = stream.id
  WHERE stream.customer_id = $1`;

const LAST_OF_NAME = `
  SELECT max(${archivedBefore('stream.id')}) AS "archivedBefore" FROM usage_stream AS stream WHERE event_name = $1`;

export interface ArchivedQuery {
  readonly customerId: string;
  readonly eventName: string;
  readonly period: Period;
}

interface NumberedMonthRow extends MonthRow {
  /** Position of the query in the list of queries, from 1. */
  readonly number: number;
}

export interface MonthRow extends ArchivedMonth {
  readonly streamId: string;
}

/** A billed period whose events may be archived, because it needs events from before `archivedBefore`. */
export interface ClosedPeriod {
  /** Position of the period in the list of periods, from 1. */
  readonly number: number;
  readonly archivedBefore: Date;
  /**
   * Time of the newest bill of the period. Null if the period has late usage to bill: events stored or voided after its
   * bill.
   */
  readonly billedAt: Date | null;
}

/** Reads archived months. Finds archived months that a request needs events of, and whose events may be deleted. */
@Injectable()
export class ArchivedMonthsRepository {
  constructor(private readonly database: Database) {}

  async findOverlapping(
    queries: readonly ArchivedQuery[],
  ): Promise<readonly (readonly MonthRow[])[]> {
    const rows = await this.database.query<NumberedMonthRow>(IN_PERIODS, [
      queries.map(({ customerId }) => customerId),
      queries.map(({ eventName }) => eventName),
      queries.map(({ period }) => period.startAt),
      queries.map(({ period }) => period.endAt),
    ]);
    const found = queries.map((): MonthRow[] => []);
    for (const { number, ...row } of rows) found[number - 1]?.push(row);
    return found;
  }

  /**
   * Returns archived months of a customer, ordered by start and then stream id, both descending. Begins after the given
   * start and stream id.
   * @param eventName null: all event names
   */
  findBefore(
    customerId: string,
    eventName: string | null,
    [startAt, stream]: readonly [Date, string],
    limit: number,
  ): Promise<readonly MonthRow[]> {
    return this.database.query<MonthRow>(PAGE, [customerId, eventName, startAt, stream, limit]);
  }

  archiveEndOfStream(stream: string): Promise<Date | null> {
    return this.database.queryValue<Date>(`SELECT ${archivedBefore('$1::bigint')}`, [stream]);
  }

  archiveEndOfEventName(eventName: string): Promise<Date | null> {
    return this.database.queryValue<Date>(LAST_OF_NAME, [eventName]);
  }

  closedEndOfCustomer(customerId: string): Promise<Date | null> {
    return this.database.queryValue<Date>(CLOSED_OF_CUSTOMER, [customerId]);
  }

  /**
   * Returns the end of the last archived month of the stream if an hour that overlaps a range lacks events. An hour
   * lacks events if some of its archived events are deleted, or are not counted by the meter. Returns null if no hour
   * lacks events.
   * @param includesStored true: an hour lacks events if it has any archived events, even if they are not deleted yet
   */
  findMissing(
    stream: string,
    meterId: string,
    ranges: readonly Period[],
    includesStored: boolean,
  ): Promise<Date | null> {
    const parameters = [stream, ...boundsOf(ranges), meterId, includesStored];
    return this.database.queryValue<Date>(MISSING, parameters);
  }

  /**
   * Returns the end of an archived month that has events of this name in an hour that overlaps one of the ranges.
   * Returns null if there is no such month.
   */
  findMissingOfEventName(eventName: string, ranges: readonly Period[]): Promise<Date | null> {
    return this.database.queryValue<Date>(MISSING_OF_NAME, [eventName, ...boundsOf(ranges)]);
  }

  /**
   * Returns the billed periods whose events may be archived. Locks the streams of all given periods, so that no further
   * month of these streams is closed until the transaction ends.
   */
  lockClosed(periods: readonly BilledPeriod[]): Promise<readonly ClosedPeriod[]> {
    return this.database.query<ClosedPeriod>(OF_BILLED_PERIODS, columnsOfPeriods(periods));
  }
}

function boundsOf(periods: readonly Period[]): readonly [readonly Date[], readonly Date[]] {
  return [periods.map(({ startAt }) => startAt), periods.map(({ endAt }) => endAt)];
}
