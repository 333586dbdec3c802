import { Injectable } from '@nestjs/common';
import type { Rational } from '../../../core/decimal';
import type { Period } from '../../../core/time';
import { usageOfWindow } from '../../../core/usage';
import { Database } from '../../../platform/database';
import type { Meter } from '../../meters';
import { archivedBefore, lacksEvents, WRITTEN_BEFORE_METER } from '../archive/archived-sql';
import { hourOf, isHour } from '../domain/hours';
import { usageArchived } from '../usage.errors';
import { carriedOverValues } from './carried-usage';
import { toUsageTotals, type TotalsRow, WINDOW_TOTALS } from './totals-row';
import { UsageStreams } from './usage-streams';
import { UsageTotalsWriter } from './usage-totals-writer';

/**
 * A period with any start and end, in which a meter counts the usage of a customer. While the window is open
 * (registered), it has running totals of its own.
 */
export interface UsageWindow {
  readonly customerId: string;
  readonly meter: Meter;
  readonly period: Period;
}

interface UsageWindowQuery extends UsageWindow {
  /** End of the whole window if `period` is only its first part. A `weighted_sum` counts the last value until then. */
  readonly heldUntil?: Date | undefined;
}

const OPEN = `
  INSERT INTO usage_window (stream_id, meter_id, start_at, end_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING
  RETURNING stream_id`;

const CLOSE = `
  DELETE FROM usage_window WHERE stream_id = $1 AND meter_id = $2 AND start_at = $3 AND end_at = $4
  RETURNING stream_id`;

/** Locks the archived month that contains the instant $2. None of its events is deleted until the transaction ends. */
const LOCK_MONTH = `
  SELECT FROM usage_archive_month
  WHERE stream_id = $1 AND start_at <= $2 AND end_at > $2 AND written_at IS NOT NULL AND removed_at IS NULL
  FOR SHARE`;

/**
 * Selects a row if the window is not open and cannot be counted exactly.
 * - `isUncounted` is true: events since its start were archived before the meter was created.
 * - False: the window begins within an hour ($5 is false), and events of that hour were archived and deleted.
 */
const LACKING = `
  SELECT ${archivedBefore('$1::bigint')} AS "archivedBefore", is_uncounted AS "isUncounted"
  FROM (SELECT EXISTS (
    SELECT FROM usage_archive_month AS month JOIN meter ON meter.id = $2
    WHERE stream_id = $1 AND end_at > $3 AND ${WRITTEN_BEFORE_METER}
  ) AS is_uncounted) AS meter
  WHERE (is_uncounted OR NOT $5 AND ${lacksEvents('$1::bigint', '$2', '$3::timestamptz')}) AND NOT EXISTS (
    SELECT FROM usage_window WHERE stream_id = $1 AND meter_id = $2 AND start_at = $3 AND end_at = $4)`;

/** Reads the running totals of the requested windows. Leaves out windows that are not registered. */
const READ = `
  SELECT requested.number, stream.id AS stream_id, totals.*
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[])
    WITH ORDINALITY AS requested(customer_id, meter_id, start_at, end_at, number)
  JOIN meter ON meter.id = requested.meter_id
  JOIN usage_stream AS stream ON stream.customer_id = requested.customer_id AND stream.event_name = meter.event_name
  JOIN usage_window ON (usage_window.stream_id, usage_window.meter_id, usage_window.start_at, usage_window.end_at)
    = (stream.id, meter.id, requested.start_at, requested.end_at)
  ${WINDOW_TOTALS}`;

interface WindowTotalsRow extends TotalsRow {
  readonly number: string;
  readonly stream_id: string;
}

/**
 * Opens, reads and closes registered windows: periods with running totals of their own. These totals are updated in the
 * commit of each event, so that a read is one lookup. Used for reset periods of entitlements, which may start at any
 * time.
 */
@Injectable()
export class UsageWindows {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
    private readonly totals: UsageTotalsWriter,
  ) {}

  /**
   * Registers a window and counts its stored events, in the caller's transaction. Ingest adds later events to the
   * totals of the window. Locks the stream until the transaction ends. Opening an open window is a no-op.
   */
  async open(window: UsageWindow): Promise<void> {
    const stream = await this.lockStream(window);
    const { meter, period } = window;
    const opened = await this.database.query(OPEN, parametersOf(stream, window));
    if (opened.length > 0 && !isHour(period)) await this.totals.countPeriod(stream, meter, period);
  }

  /**
   * Requires that the usage of a window can be counted exactly. This holds if the window is already open, or if no
   * event since its start is missing. Events are missing if they were archived before the meter was created. They are
   * also missing if the window begins within an hour whose events were archived and deleted. Locks the month of that
   * hour, so that no more of its events are deleted until the caller's transaction ends.
   * @throws {ProblemError} `usage_archived`
   */
  async requireCountable(window: UsageWindow): Promise<void> {
    this.database.requireTransaction();
    const { customerId, meter, period } = window;
    const { startAt } = period;
    const stream = await this.streams.idOf({ customerId, eventName: meter.eventName });
    if (stream === null) return;
    const isAtHour = hourOf(startAt).startAt.getTime() === startAt.getTime();
    if (!isAtHour) await this.database.query(LOCK_MONTH, [stream, startAt]);
    const [lacking] = await this.database.query<{ archivedBefore: Date; isUncounted: boolean }>(
      LACKING,
      [...parametersOf(stream, window), isAtHour],
    );
    if (lacking === undefined) return;
    const otherwise = lacking.isUncounted
      ? `but the meter ${meter.id} was created later and lacks them. Choose a plan whose entitlements reset, or have an earlier meter.`
      : 'within such an hour. Start the subscription at a whole hour, or choose a plan whose entitlements reset.';
    const refused = `An entitlement would count usage since ${startAt.toISOString()}, ${otherwise}`;
    throw usageArchived(lacking.archivedBefore, refused);
  }

  /**
   * Returns the usage of each window over all groups; null for a window that is not open. Includes changes that the
   * caller's transaction has not committed yet.
   */
  async read(windows: readonly UsageWindowQuery[]): Promise<readonly (Rational | null)[]> {
    const rows = await this.database.query<WindowTotalsRow>(READ, [
      windows.map(({ customerId }) => customerId),
      windows.map(({ meter }) => meter.id),
      windows.map(({ period }) => period.startAt),
      windows.map(({ period }) => period.endAt),
    ]);
    const open = rows.flatMap((row) => {
      const window = windows[Number(row.number) - 1];
      return window === undefined ? [] : { row, ...window };
    });
    const carrying = open.filter(({ meter }) => meter.isRecurring);
    const carried = await carriedOverValues(
      this.database,
      carrying.map(({ row, meter, period }) => ({
        streamId: row.stream_id,
        meterId: meter.id,
        startAt: period.startAt,
      })),
    );
    const values = new Map(
      open.map((one) => [
        Number(one.row.number),
        usageOfWindow(
          one.meter.aggregation,
          toUsageTotals(one.row),
          { ...one.period, heldUntil: one.heldUntil },
          carried[carrying.indexOf(one)],
        ),
      ]),
    );
    return windows.map((_, index) => values.get(index + 1) ?? null);
  }

  /**
   * Closes a window and deletes its running totals, in the caller's transaction. While the events are in the database,
   * the usage of the period can still be computed exactly from hourly totals and events.
   */
  async close(window: UsageWindow): Promise<void> {
    const stream = await this.lockStream(window);
    const { meter, period } = window;
    const closed = await this.database.query(CLOSE, parametersOf(stream, window));
    if (closed.length > 0 && !isHour(period)) await this.totals.forgetPeriod(stream, meter, period);
  }

  private async lockStream({ customerId, meter }: UsageWindow): Promise<string> {
    return (await this.streams.lockOne({ customerId, eventName: meter.eventName })).id;
  }
}

function parametersOf(stream: string, { meter, period }: UsageWindow): readonly unknown[] {
  return [stream, meter.id, period.startAt, period.endAt];
}
