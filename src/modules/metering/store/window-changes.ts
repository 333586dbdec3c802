import { Injectable } from '@nestjs/common';
import { compare } from '../../../core/decimal';
import { type Aggregation, valueOf } from '../../../core/usage';
import { Database, listOfAnyLength } from '../../../platform/database';
import { type ChangedWindow, UsageHooks } from '../usage-hooks';
import { msOf } from './counted-sql';
import { toUsageTotals, type TotalsRow, WINDOW_TOTALS } from './totals-row';

interface WindowRow extends TotalsRow {
  readonly streamId: string;
  readonly meterId: string;
  readonly aggregation: Aggregation;
  readonly startMs: string;
  readonly endMs: string;
}

/** Registered windows that overlap a time span. */
const READ = `
  SELECT usage_window.stream_id AS "streamId", meter.id AS "meterId", meter.aggregation,
    ${msOf('usage_window.start_at')} AS "startMs", ${msOf('usage_window.end_at')} AS "endMs", totals.*
  FROM usage_window
  JOIN meter ON meter.id = usage_window.meter_id
  ${WINDOW_TOTALS}
  WHERE usage_window.stream_id = ANY (${listOfAnyLength('$1', 'bigint')}) AND usage_window.start_at <= $3 AND usage_window.end_at > $2
  ORDER BY usage_window.stream_id, meter.id, usage_window.start_at, usage_window.end_at`;

/** Streams whose events are about to be stored, with the time span of these events. */
export interface ChangedStreams {
  /** Customer ids by the ids of their locked streams. */
  readonly customers: ReadonlyMap<string, string>;
  readonly earliestAt: Date;
  readonly latestAt: Date;
}

/** Runs the usage hooks for registered windows that a change of events updates, in its commit. */
@Injectable()
export class WindowChanges {
  constructor(
    private readonly database: Database,
    private readonly hooks: UsageHooks,
  ) {}

  /** Makes the change, then runs the hooks with the windows whose value it changed. */
  async around<Result>(streams: ChangedStreams, change: () => Promise<Result>): Promise<Result> {
    if (this.hooks.isEmpty) return change();
    const before = await this.read(streams);
    const result = await change();
    if (before.length > 0) {
      await this.hooks.run(changedWindows(streams, before, await this.read(streams)));
    }
    return result;
  }

  private read({ customers, earliestAt, latestAt }: ChangedStreams): Promise<WindowRow[]> {
    return this.database.prepared<WindowRow>('usage-windows', READ, [
      [...customers.keys()],
      earliestAt,
      latestAt,
    ]);
  }
}

function changedWindows(
  { customers }: ChangedStreams,
  before: readonly WindowRow[],
  after: readonly WindowRow[],
): ChangedWindow[] {
  // Registering a window locks its stream, so both lists have the same windows in the same order.
  return before.flatMap((row, index) => {
    const period = { startAt: new Date(Number(row.startMs)), endAt: new Date(Number(row.endMs)) };
    const usageOf = (one: WindowRow) => valueOf(row.aggregation, toUsageTotals(one), period);
    const [usageBefore, usageAfter] = [usageOf(row), usageOf(after[index] ?? row)];
    if (compare(usageBefore, usageAfter) === 0) return [];
    return {
      customerId: customers.get(row.streamId) ?? '',
      meterId: row.meterId,
      period,
      before: usageBefore,
      after: usageAfter,
    };
  });
}
