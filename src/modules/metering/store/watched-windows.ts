import { Injectable } from '@nestjs/common';
import { compare, multiply, parseExact, rational, type Rational } from '../../../core/decimal';
import type { Aggregation } from '../../../core/usage';
import { Database } from '../../../platform/database';
import { type MovedWindow, UsageWatchers } from '../usage-watchers';
import { msOf } from './counted-sql';

interface WindowRow {
  readonly streamId: string;
  readonly meterId: string;
  readonly aggregation: Aggregation;
  readonly startMs: string;
  readonly endMs: string;
  /** Of a weighted sum what is still to be divided by the length of the window. */
  readonly total: string;
}

/** Windows that hold some instant of a span, over all groups. */
const READ = `
  SELECT usage_window.stream_id AS "streamId", meter.id AS "meterId", meter.aggregation,
    ${msOf('usage_window.start_at')} AS "startMs", ${msOf('usage_window.end_at')} AS "endMs",
    coalesce(CASE meter.aggregation
      WHEN 'count' THEN sum(bucket.events)
      WHEN 'sum' THEN sum(bucket.total)
      WHEN 'max' THEN max(bucket.greatest)
      WHEN 'latest' THEN
        (max(ARRAY[extract(epoch FROM bucket.latest_at), bucket.latest_position, bucket.latest]))[3]
      WHEN 'unique' THEN CASE WHEN count(bucket.group_key) < 2 THEN sum(bucket.distinct_values) ELSE (
        SELECT count(DISTINCT value_digest) FROM usage_distinct_value
        WHERE (stream_id, meter_id, start_at, end_at)
          = (usage_window.stream_id, meter.id, usage_window.start_at, usage_window.end_at)
      ) END
      WHEN 'weighted_sum' THEN sum(bucket.held_ms)
    END, 0)::text AS total
  FROM usage_window
  JOIN meter ON meter.id = usage_window.meter_id
  LEFT JOIN usage_bucket AS bucket USING (stream_id, meter_id, start_at, end_at)
  WHERE usage_window.stream_id = ANY($1) AND usage_window.start_at <= $3 AND usage_window.end_at > $2
  GROUP BY usage_window.stream_id, meter.id, usage_window.start_at, usage_window.end_at
  ORDER BY usage_window.stream_id, meter.id, usage_window.start_at, usage_window.end_at`;

/** Whose events are about to be stored or voided, and when they happened. */
export interface MovedStreams {
  /** Customers by the id of their stream; all of them held. */
  readonly customers: ReadonlyMap<string, string>;
  readonly earliestAt: Date;
  readonly latestAt: Date;
}

/** Tells who watches what windows a change of events moved, in its commit. */
@Injectable()
export class WatchedWindows {
  constructor(
    private readonly database: Database,
    private readonly watchers: UsageWatchers,
  ) {}

  /** Does the change, and tells of the windows whose value is another one afterwards. */
  async around<Result>(streams: MovedStreams, change: () => Promise<Result>): Promise<Result> {
    if (this.watchers.isEmpty) return change();
    const before = await this.read(streams);
    const result = await change();
    if (before.length > 0)
      await this.watchers.tell(moved(streams, before, await this.read(streams)));
    return result;
  }

  private read({ customers, earliestAt, latestAt }: MovedStreams): Promise<WindowRow[]> {
    return this.database.prepared<WindowRow>('usage-windows', READ, [
      [...customers.keys()],
      earliestAt,
      latestAt,
    ]);
  }
}

function moved(
  { customers }: MovedStreams,
  before: readonly WindowRow[],
  after: readonly WindowRow[],
): MovedWindow[] {
  // Whoever registers a window holds its stream: the same windows, in the same order.
  return before.flatMap((row, place) => {
    const [valueBefore, valueAfter] = [valueOf(row), valueOf(after[place] ?? row)];
    if (compare(valueBefore, valueAfter) === 0) return [];
    return {
      customerId: customers.get(row.streamId) ?? '',
      meterId: row.meterId,
      period: { startAt: new Date(Number(row.startMs)), endAt: new Date(Number(row.endMs)) },
      before: valueBefore,
      after: valueAfter,
    };
  });
}

function valueOf({ aggregation, total, startMs, endMs }: WindowRow): Rational {
  const exact = parseExact(total);
  if (aggregation !== 'weighted_sum') return exact;
  return multiply(exact, rational(1n, BigInt(endMs) - BigInt(startMs)));
}
