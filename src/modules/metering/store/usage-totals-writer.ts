import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { Database } from '../../../platform/database';
import { isHour, type SplitPeriod, splitAtHours, withoutHours } from '../domain/hours';
import type { Meter } from '../../meters';
import { MOVE_HOURS } from './bucket-sql';
import { countedOf } from './counted-sql';
import { STANDS_NOW, TOTAL_COLUMNS, totalsOf, valuesOf } from './totals-sql';

/** A meter that is backfilling has no windows: to look for them would be to read all events twice. */
const RECOUNT = `
  WITH counted AS NOT MATERIALIZED (${countedOf(
    'meter CROSS JOIN usage_event AS event',
    `meter.id = $1 AND event.stream_id = ANY($2::bigint[]) AND event.voided_at IS NULL
      AND event.occurred_at >= coalesce($3::timestamptz, '-infinity')
      AND event.occurred_at < coalesce($4::timestamptz, 'infinity')`,
  )}
  ), ${MOVE_HOURS}
  SELECT FROM moved LIMIT 1`;

const forgetHoursSql = (table: string): string => `
  DELETE FROM ${table}
  WHERE meter_id = $1 AND stream_id = ANY($2::bigint[])
    AND start_at >= coalesce($3::timestamptz, '-infinity') AND start_at < coalesce($4::timestamptz, 'infinity')`;

/** Events stored by appends that saw an older version of the stream would not be counted. */
const OUTDATE = 'UPDATE usage_stream SET version = version + 1 WHERE id = ANY($1::bigint[])';

/** Streams, and the hours of each from one instant to another; null: without a bound. */
export interface StreamHours {
  readonly streams: readonly string[];
  readonly from: Date | null;
  readonly to: Date | null;
}

const BUCKET = 'stream_id, meter_id, start_at, end_at, group_key';
const ASKED = `
  SELECT 0 AS place, $3::timestamptz AS start_at, $4::timestamptz AS hours_start_at, $5::timestamptz AS hours_end_at,
    $6::timestamptz AS end_at`;

/** Running totals are written where there are none; a group is taken only if it is the one given. */
function countPeriodSql({ aggregation }: Meter, what: 'totals' | 'values'): string {
  const pieces = { aggregation, stream: '$1', meter: '$2', asked: ASKED, stands: STANDS_NOW };
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

/** Writes running totals from what is stored already; appending moves them as events come. */
@Injectable()
export class UsageTotalsWriter {
  constructor(private readonly database: Database) {}

  /**
   * Counts all events of streams in a range of hours for a meter without windows, in place of what was counted there. From
   * then on every event of these streams is counted by the append that stores it. The caller holds the streams, and counts
   * the first hours of a stream first.
   */
  async recount(meterId: string, { streams, from, to }: StreamHours): Promise<void> {
    this.database.requireTransaction();
    for (const table of ['usage_bucket', 'usage_distinct_value']) {
      await this.database.query(forgetHoursSql(table), [meterId, streams, from, to]);
    }
    await this.database.query(RECOUNT, [meterId, streams, from, to]);
    if (from === null) await this.database.query(OUTDATE, [streams]);
  }

  /**
   * Counts what is stored of a period that has no totals yet: an hour from its events, a window from its hours and the
   * events at its edges. The caller holds the stream.
   * @param groupKey of the one group to be counted; null: all
   */
  async countPeriod(
    stream: string,
    meter: Meter,
    period: Period,
    groupKey: string | null = null,
  ): Promise<void> {
    this.database.requireTransaction();
    const split = isHour(period) ? withoutHours(period) : splitAtHours(period);
    const parameters = [stream, meter.id, ...bordersOf(split), groupKey];
    await this.database.query(countPeriodSql(meter, 'totals'), parameters);
    if (meter.aggregation === 'unique') {
      await this.database.query(countPeriodSql(meter, 'values'), parameters);
    }
  }

  /** Takes the totals of a period away; the caller holds the stream. */
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

function bordersOf({ startAt, hoursStartAt, hoursEndAt, endAt }: SplitPeriod): readonly Date[] {
  return [startAt, hoursStartAt, hoursEndAt, endAt];
}
