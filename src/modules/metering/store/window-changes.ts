import { Injectable } from '@nestjs/common';
import { type Aggregation, usageOfWindow } from '../../../core/usage';
import { Database, listOfAnyLength } from '../../../platform/database';
import { UsageHooks } from '../usage-hooks';
import { carriedOverValues } from './carried-usage';
import { msOf } from './counted-sql';
import { toUsageTotals, type TotalsRow, WINDOW_TOTALS } from './totals-row';

interface WindowRow extends TotalsRow {
  readonly streamId: string;
  readonly meterId: string;
  readonly aggregation: Aggregation;
  readonly isRecurring: boolean;
  readonly startMs: string;
  readonly endMs: string;
}

/**
 * Registered windows (periods with running totals of their own) that overlap a time span. For recurring meters,
 * includes all windows after the time span, because the values of its events carry over into them.
 */
const READ = `
  SELECT usage_window.stream_id AS "streamId", meter.id AS "meterId", meter.aggregation,
    meter.is_recurring AS "isRecurring", ${msOf('usage_window.start_at')} AS "startMs", ${msOf('usage_window.end_at')} AS "endMs", totals.*
  FROM usage_window
  JOIN meter ON meter.id = usage_window.meter_id
  ${WINDOW_TOTALS}
  WHERE usage_window.stream_id = ANY (${listOfAnyLength('$1', 'bigint')})
    AND (usage_window.start_at <= $3 OR meter.is_recurring) AND usage_window.end_at > $2
  ORDER BY usage_window.stream_id, meter.id, usage_window.start_at, usage_window.end_at`;

/** Streams (one customer, one event name) whose events were stored or voided, and the time span of these events. */
export interface ChangedStreams {
  /** Customer ids by stream id. */
  readonly customers: ReadonlyMap<string, string>;
  readonly earliestAt: Date;
  readonly latestAt: Date;
}

/**
 * Calls the usage hooks (callbacks of other modules) with the registered windows (periods with running totals of their
 * own) whose usage may have changed.
 */
@Injectable()
export class WindowChanges {
  constructor(
    private readonly database: Database,
    private readonly hooks: UsageHooks,
  ) {}

  /** Calls the hooks in the caller's transaction. */
  async report({ customers, earliestAt, latestAt }: ChangedStreams): Promise<void> {
    if (this.hooks.isEmpty) return;
    const rows = await this.database.queryPrepared<WindowRow>('usage-windows', READ, [
      [...customers.keys()],
      earliestAt,
      latestAt,
    ]);
    const windows = rows.map((row) => ({
      ...row,
      startAt: new Date(Number(row.startMs)),
      endAt: new Date(Number(row.endMs)),
    }));
    const carrying = windows.filter(({ isRecurring }) => isRecurring);
    const carried = await carriedOverValues(this.database, carrying);
    await this.hooks.run(
      windows.map((window) => {
        const { streamId, meterId, aggregation, startAt, endAt } = window;
        const totals = toUsageTotals(window);
        const period = { startAt, endAt };
        return {
          customerId: customers.get(streamId) ?? '',
          meterId,
          period,
          usage: usageOfWindow(aggregation, totals, period, carried[carrying.indexOf(window)]),
        };
      }),
    );
  }
}
