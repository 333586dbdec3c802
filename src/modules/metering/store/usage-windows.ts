import { Injectable } from '@nestjs/common';
import { divide, parseExact, rational, type Rational } from '../../../core/decimal';
import type { Period } from '../../../core/time';
import { Database } from '../../../platform/database';
import { isHour } from '../domain/hours';
import type { Meter } from '../../meters';
import { UsageStreams } from './usage-streams';
import { UsageTotalsWriter } from './usage-totals-writer';

/** A period of a customer whose usage is kept ready to be read, whatever its borders. */
export interface UsageWindow {
  readonly customerId: string;
  readonly meter: Meter;
  readonly period: Period;
}

const OPEN = `
  INSERT INTO usage_window (stream_id, meter_id, start_at, end_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING
  RETURNING stream_id`;

const CLOSE = `
  DELETE FROM usage_window WHERE stream_id = $1 AND meter_id = $2 AND start_at = $3 AND end_at = $4
  RETURNING stream_id`;

/** One row for each that is open; the groups of a meter are counted together. */
const READ = `
  SELECT asked.place, CASE meter.aggregation
    WHEN 'count' THEN bucket.events::numeric
    WHEN 'sum' THEN bucket.total
    WHEN 'max' THEN bucket.greatest
    WHEN 'latest' THEN bucket.last[3]
    WHEN 'weighted_sum' THEN bucket.held_ms
    WHEN 'unique' THEN CASE WHEN bucket.groups < 2 THEN bucket.distinct_values ELSE (
      SELECT count(DISTINCT value_digest) FROM usage_distinct_value
      WHERE (stream_id, meter_id, start_at, end_at) = (one.stream_id, one.meter_id, one.start_at, one.end_at)
    ) END
  END AS value
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[])
    WITH ORDINALITY AS asked(customer_id, meter_id, start_at, end_at, place)
  JOIN meter ON meter.id = asked.meter_id
  JOIN usage_stream AS stream ON stream.customer_id = asked.customer_id AND stream.event_name = meter.event_name
  JOIN usage_window AS one ON (one.stream_id, one.meter_id, one.start_at, one.end_at)
    = (stream.id, meter.id, asked.start_at, asked.end_at)
  CROSS JOIN LATERAL (
    SELECT sum(events) AS events, sum(total) AS total, max(greatest) AS greatest, sum(held_ms) AS held_ms,
      max(ARRAY[extract(epoch FROM latest_at), latest_position, latest]) FILTER (WHERE latest_at IS NOT NULL) AS last,
      sum(distinct_values) AS distinct_values, count(*) AS groups
    FROM usage_bucket
    WHERE (stream_id, meter_id, start_at, end_at) = (one.stream_id, one.meter_id, one.start_at, one.end_at)
  ) AS bucket`;

/**
 * Registered windows: their running totals move with every event, in its commit, so that to read one is to look up a row.
 * For the reset periods of entitlements, whose borders are not those of hours.
 */
@Injectable()
export class UsageWindows {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
    private readonly totals: UsageTotalsWriter,
  ) {}

  /**
   * Registers a window and counts what is stored of it, in the caller's transaction; from then on events move it. Holds
   * the stream until that ends. One that is open stays as it is.
   */
  async open(window: UsageWindow): Promise<void> {
    const stream = await this.hold(window);
    const { meter, period } = window;
    const opened = await this.database.query(OPEN, parametersOf(stream, window));
    if (opened.length > 0 && !isHour(period)) await this.totals.countPeriod(stream, meter, period);
  }

  /**
   * The usage of each window, all groups together and without what a recurring meter carried over; null where it is not
   * open. Sees what the caller's transaction has written.
   */
  async read(windows: readonly UsageWindow[]): Promise<readonly (Rational | null)[]> {
    const rows = await this.database.query<{ place: string; value: string | null }>(READ, [
      windows.map(({ customerId }) => customerId),
      windows.map(({ meter }) => meter.id),
      windows.map(({ period }) => period.startAt),
      windows.map(({ period }) => period.endAt),
    ]);
    const values = new Map(rows.map(({ place, value }) => [Number(place), value ?? '0']));
    return windows.map((window, index) => {
      const value = values.get(index + 1);
      return value === undefined ? null : valueOf(window, parseExact(value));
    });
  }

  /** Takes a window away that nobody reads any more, in the caller's transaction; its usage can still be read exactly. */
  async close(window: UsageWindow): Promise<void> {
    const stream = await this.hold(window);
    const { meter, period } = window;
    const closed = await this.database.query(CLOSE, parametersOf(stream, window));
    if (closed.length > 0 && !isHour(period)) await this.totals.forgetPeriod(stream, meter, period);
  }

  private hold({ customerId, meter }: UsageWindow): Promise<string> {
    return this.streams.holdOne({ customerId, eventName: meter.eventName });
  }
}

function parametersOf(stream: string, { meter, period }: UsageWindow): readonly unknown[] {
  return [stream, meter.id, period.startAt, period.endAt];
}

function valueOf({ meter, period }: UsageWindow, value: Rational): Rational {
  if (meter.aggregation !== 'weighted_sum') return value;
  return divide(value, rational(BigInt(period.endAt.getTime() - period.startAt.getTime())));
}
