import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import type { Meter } from '../domain/meter';
import { MOVE_BUCKETS } from './bucket-sql';
import { GROUP_KEY, IS_COUNTED, METER_READS } from './counted-sql';
import { holdUsage } from './meters-lock';

/** Counting what is stored for years takes longer than any other statement may. */
const ALLOW_LONG_STATEMENT = `SET LOCAL statement_timeout = '10min'`;

const COUNT_ANEW = `
  WITH counted AS NOT MATERIALIZED (
    SELECT event.stream_id, meter.id AS meter_id, meter.aggregation, event.position, event.occurred_at,
      read.value, read.text, ${GROUP_KEY} AS group_key
    FROM meter JOIN usage_stream AS stream USING (event_name) JOIN usage_event AS event ON event.stream_id = stream.id
    ${METER_READS}
    WHERE meter.id = $1 AND event.voided_at IS NULL AND ${IS_COUNTED}
  ), ${MOVE_BUCKETS}
  SELECT FROM moved LIMIT 1`;

/** Writes running totals from events that are stored already; appending moves them as events come. */
@Injectable()
export class UsageTotalsWriter {
  constructor(private readonly database: Database) {}

  /** Until the open transaction ends, nobody stores an event. */
  holdUsage(): Promise<void> {
    return holdUsage(this.database);
  }

  /** Counts all that is stored for a meter that has no totals yet; the caller holds all usage. */
  async countAnew(meter: Meter): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(ALLOW_LONG_STATEMENT);
    await this.database.query(COUNT_ANEW, [meter.id]);
  }
}
