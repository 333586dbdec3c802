import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { Database } from '../../../platform/database';
import { isHour, type SplitPeriod, splitAtHours, withoutHours } from '../domain/hours';
import type { Meter } from '../domain/meter';
import { MOVE_HOURS } from './bucket-sql';
import { countedOf } from './counted-sql';
import { holdUsage } from './meters-lock';
import { STANDS_NOW, TOTAL_COLUMNS, totalsOf, valuesOf } from './totals-sql';

/** Outdating and counting what is stored for years takes longer than any other statement may. */
const LONG_STATEMENT = { statementMs: 600_000 };

/** Of a meter that nobody knows yet there are no windows: to look for them would be to read all events twice. */
const COUNT_ANEW = `
  WITH counted AS NOT MATERIALIZED (${countedOf(
    'meter JOIN usage_stream AS stream USING (event_name) JOIN usage_event AS event ON event.stream_id = stream.id',
    'meter.id = $1 AND event.voided_at IS NULL',
  )}
  ), ${MOVE_HOURS}
  SELECT FROM moved LIMIT 1`;

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

  /** Until the open transaction ends, nobody stores an event of this name, and a statement of it may take long. */
  async holdUsage(eventName: string): Promise<void> {
    await holdUsage(this.database, eventName);
    await this.database.allowLongWork(LONG_STATEMENT);
  }

  /** Counts all that is stored for a meter that has no totals yet; the caller holds all usage. */
  async countAnew(meter: Meter): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(COUNT_ANEW, [meter.id]);
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
