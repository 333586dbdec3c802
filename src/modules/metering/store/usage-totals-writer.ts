import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { archivedBefore, lacksEvents } from '../archive/archived-sql';
import { Database } from '../../../platform/database';
import { isHour, splitAtHours, withoutHours } from '../domain/hours';
import type { Meter } from '../../meters';
import { ADD_TO_HOURS } from './bucket-sql';
import { countedOf, hourOf } from './counted-sql';
import { NOT_VOIDED, type PiecesSql, TOTAL_COLUMNS, totalsOf, valuesOf } from './totals-sql';

/**
 * Adds stored events to the totals of their hours, except voided events and events of archived months. Does not add
 * them to usage windows (periods with totals of their own), because a new meter has no windows yet.
 */
const RECOUNT = `
  WITH counted AS NOT MATERIALIZED (${countedOf(
    'meter CROSS JOIN usage_event AS event',
    `meter.id = $1 AND event.stream_id = ANY($2::bigint[]) AND event.voided_at IS NULL
      AND event.occurred_at >= coalesce($3::timestamptz, '-infinity')
      AND event.occurred_at < coalesce($4::timestamptz, 'infinity')
      AND event.occurred_at >= coalesce(${archivedBefore('event.stream_id')}, '-infinity')`,
  )}
  ), ${ADD_TO_HOURS}
  SELECT FROM updated LIMIT 1`;

const forgetHoursSql = (table: string): string => `
  DELETE FROM ${table}
  WHERE meter_id = $1 AND stream_id = ANY($2::bigint[])
    AND start_at >= coalesce($3::timestamptz, '-infinity') AND start_at < coalesce($4::timestamptz, 'infinity')`;

/** Invalidates the cached state of streams, so that the fast path of ingest counts events for the new meter. */
const INVALIDATE = 'UPDATE usage_stream SET version = version + 1 WHERE id = ANY($1::bigint[])';

/** A range of hours of several streams. `from` null: begins with the first event. `to` null: ends with the last. */
export interface StreamHours {
  readonly streams: readonly string[];
  readonly from: Date | null;
  readonly to: Date | null;
}

const BUCKET = 'stream_id, meter_id, start_at, end_at, group_key';
/**
 * The period to count. Its whole hours are read from stored totals. Its incomplete first and last hour are counted from
 * events. If events of such an hour were archived and deleted, the stored total of the whole hour is used instead. This
 * exception needs a period with at least one whole hour. A `weighted_sum` always holds values until the end of the
 * period.
 */
const SINGLE_PERIOD = `
  SELECT 0 AS number, CASE WHEN is_cut THEN first_hour ELSE $3 END AS start_at,
    CASE WHEN is_cut THEN first_hour ELSE $4 END AS hours_start_at,
    CASE WHEN is_end_cut THEN next_hour ELSE $5 END AS hours_end_at, $6 AS end_at
  FROM (SELECT ${hourOf('$3::timestamptz')} AS first_hour, ${hourOf('$6::timestamptz')} + interval '1 hour' AS next_hour,
    $3 < $4::timestamptz AND $4 < $5::timestamptz AND ${lacksEvents('$1', '$2', '$3')} AS is_cut,
    $5 < $6 AND $4 < $5 AND ${lacksEvents('$1', '$2', '$6')} AS is_end_cut) AS edges`;

const piecesOfPeriod = ({ aggregation, groupBy }: Meter): PiecesSql => ({
  aggregation,
  groupBy,
  stream: '$1',
  meter: '$2',
  requested: SINGLE_PERIOD,
  condition: NOT_VOIDED,
});

/** Returns SQL that inserts the totals of a period for the group $7, or for all groups if $7 is null. */
function countPeriodSql(meter: Meter, what: 'totals' | 'values'): string {
  const pieces = piecesOfPeriod(meter);
  const [table, columns, rows] =
    what === 'totals'
      ? ['usage_bucket', TOTAL_COLUMNS, totalsOf(pieces)]
      : ['usage_distinct_value', 'value_digest', valuesOf(pieces)];
  return `
    INSERT INTO ${table} (${BUCKET}, ${columns})
    SELECT $1, $2, $3, $6, group_key, ${columns} FROM ${rows} AS counted WHERE $7::text IS NULL OR group_key = $7`;
}

const forgetSql = (table: string): string => `
  DELETE FROM ${table}
  WHERE stream_id = $1 AND meter_id = $2 AND start_at = $3 AND end_at = $4 AND ($5::text IS NULL OR group_key = $5)`;

/** Returns SQL that deletes the value $8 of the group $7 in a period, if no event of the period has this value. */
const forgetValueSql = (meter: Meter): string => `
  WITH forgotten AS (
    DELETE FROM usage_distinct_value
    WHERE (${BUCKET}) = ($1, $2, $3, $6, $7) AND value_digest = $8 AND NOT EXISTS (
      SELECT FROM ${valuesOf(piecesOfPeriod(meter))} AS counted WHERE group_key = $7 AND value_digest = $8
    )
    RETURNING value_digest
  )
  UPDATE usage_bucket SET distinct_values = distinct_values - 1 FROM forgotten
  WHERE (${BUCKET}) = ($1, $2, $3, $6, $7)
  RETURNING true`;

/** Computes running totals from events that are already stored. Ingest adds later events to these totals. */
@Injectable()
export class UsageTotalsWriter {
  constructor(private readonly database: Database) {}

  /**
   * Replaces the hourly totals of a new meter by totals computed from stored events, for a range of hours of streams.
   * The caller has locked the streams. The meter must have no usage windows (periods with totals of their own). If
   * `from` is null (the first range of the streams), also invalidates the cached state of the streams. The fast path of
   * ingest then counts new events for the meter.
   */
  async recount(meterId: string, { streams, from, to }: StreamHours): Promise<void> {
    this.database.requireTransaction();
    for (const table of ['usage_bucket', 'usage_distinct_value']) {
      await this.database.query(forgetHoursSql(table), [meterId, streams, from, to]);
    }
    await this.database.query(RECOUNT, [meterId, streams, from, to]);
    if (from === null) await this.database.query(INVALIDATE, [streams]);
  }

  /**
   * Computes and inserts the totals of a period that has none. The caller has locked the stream. An hour is counted
   * from its events. A window is counted from the totals of its whole hours, and from the events before and after these
   * hours. If some of these events were archived and deleted, uses the total of the whole UTC hour in which the window
   * starts or ends (decision 210).
   * @param groupKey group to count; null: all groups
   */
  async countPeriod(
    stream: string,
    meter: Meter,
    period: Period,
    groupKey: string | null = null,
  ): Promise<void> {
    this.database.requireTransaction();
    const parameters = [stream, meter.id, ...instantsOf(period), groupKey];
    await this.database.query(countPeriodSql(meter, 'totals'), parameters);
    if (meter.aggregation === 'unique') {
      await this.database.query(countPeriodSql(meter, 'values'), parameters);
    }
  }

  /**
   * Deletes a value of a `unique` meter from the totals of a period if no event of the period has the value. Returns
   * true if it was deleted. For a window, looks in the totals of whole hours, which must be up to date, and in the
   * events before and after these hours. The caller has locked the stream.
   */
  async forgetValue(
    stream: string,
    meter: Meter,
    period: Period,
    { groupKey, valueDigest }: { readonly groupKey: string; readonly valueDigest: string },
  ): Promise<boolean> {
    this.database.requireTransaction();
    const parameters = [stream, meter.id, ...instantsOf(period), groupKey, valueDigest];
    return (await this.database.queryValue<boolean>(forgetValueSql(meter), parameters)) ?? false;
  }

  /**
   * Deletes the totals of a period. The caller has locked the stream.
   * @param groupKey group whose totals are deleted; null: all groups
   */
  async forgetPeriod(
    stream: string,
    meter: Meter,
    { startAt, endAt }: Period,
    groupKey: string | null = null,
  ): Promise<void> {
    this.database.requireTransaction();
    for (const table of ['usage_bucket', 'usage_distinct_value']) {
      await this.database.query(forgetSql(table), [stream, meter.id, startAt, endAt, groupKey]);
    }
  }
}

/** Returns the parameters $3 to $6 of {@link SINGLE_PERIOD}. */
function instantsOf(period: Period): readonly Date[] {
  const split = isHour(period) ? withoutHours(period) : splitAtHours(period);
  return [split.startAt, split.hoursStartAt, split.hoursEndAt, split.endAt];
}
