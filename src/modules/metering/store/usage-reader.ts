import { Injectable } from '@nestjs/common';
import { parseExact } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import type { Period } from '../../../core/time';
import { Database } from '../../../platform/database';
import { splitAtHours, withoutHours } from '../domain/hours';
import { heldFrom, readingsOf, type TotalsByGroup, type UsageTotals } from '../../../core/usage';
import { groupOf, STANDS_NOW, totalsOf } from './totals-sql';
import type { UsageQuery, UsageReading, UsageSeries, UsageSeriesQuery } from './usage-store';
import { UsageStreams } from './usage-streams';

const ASKED = `
  SELECT * FROM unnest($3::integer[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
    AS asked(place, start_at, hours_start_at, hours_end_at, end_at)`;

const STOOD_THEN =
  'event.position <= $8 AND (event.voided_position IS NULL OR event.voided_position > $8)';

interface TotalsRow {
  readonly last_position: string;
  readonly place: number | null;
  readonly group_key: string;
  readonly events: string;
  readonly total: string;
  readonly greatest: string | null;
  readonly latest: string | null;
  readonly held_ms: string;
  readonly distinct_values: string;
}

/**
 * Reads usage: of each period the whole hours from their running totals and the rest from its events, in one statement,
 * so that what it answers was true at one moment.
 */
@Injectable()
export class UsageReader {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
  ) {}

  async aggregate(asked: UsageQuery): Promise<UsageReading> {
    const { customerId, meter, period, heldSince, upToPosition } = asked;
    const query = { customerId, meter, windows: [period], groupBy: meter.groupBy, heldSince };
    const { whole, countedFrom, upToPosition: lastPosition } = await this.read(query, upToPosition);
    return { groups: whole, countedFrom, upToPosition: upToPosition ?? lastPosition };
  }

  series(query: UsageSeriesQuery): Promise<UsageSeries> {
    return this.read(query, null);
  }

  private async read(query: UsageSeriesQuery, upToPosition: bigint | null): Promise<UsageSeries> {
    const { meter, windows } = query;
    const [first, last] = [windows.at(0), windows.at(-1)];
    invariant(first !== undefined && last !== undefined, 'Usage is read of at least one window.');
    const whole = { startAt: first.startAt, endAt: last.endAt };
    const heldSince = heldFrom(meter, query.heldSince);
    const before = { startAt: heldSince ?? whole.startAt, endAt: whole.startAt };
    const { totals, lastPosition } = await this.totals(
      query,
      [before, whole, ...windows],
      upToPosition,
    );
    const [ofBefore, ofWhole, ...ofWindows] = totals;
    invariant(ofBefore !== undefined && ofWhole !== undefined, 'Each period has its totals.');
    const rule = { ...meter, groupBy: query.groupBy };
    const held = heldSince === null ? null : ofBefore;
    return {
      whole: readingsOf(rule, [whole], [ofWhole], held).flat(),
      windows: readingsOf(rule, windows, ofWindows, held),
      countedFrom: before.startAt,
      upToPosition: lastPosition,
    };
  }

  /** The totals of each of the periods. */
  private async totals(
    { customerId, meter, groupBy }: UsageSeriesQuery,
    periods: readonly Period[],
    upToPosition: bigint | null,
  ): Promise<{ readonly totals: readonly TotalsByGroup[]; readonly lastPosition: bigint }> {
    const totals = periods.map(() => new Map<string, UsageTotals>());
    const stream = await this.streams.idOf({ customerId, eventName: meter.eventName });
    if (stream === null) return { totals, lastPosition: 0n };
    const exact = upToPosition !== null;
    // Buckets hold what is; what was at an earlier place of the stream only its events can tell.
    const asked = periods.map(exact ? withoutHours : splitAtHours);
    const pieces = {
      aggregation: meter.aggregation,
      stream: '$1',
      meter: '$2',
      asked: ASKED,
      stands: exact ? STOOD_THEN : STANDS_NOW,
    };
    const rows = await this.database.query<TotalsRow>(
      `SELECT s.last_position, t.*
       FROM usage_stream s LEFT JOIN ${totalsOf(pieces, groupOf(meter.groupBy, groupBy))} t ON true
       WHERE s.id = $1`,
      [
        stream,
        meter.id,
        asked.map((_, place) => place),
        asked.map(({ startAt }) => startAt.toISOString()),
        asked.map(({ hoursStartAt }) => hoursStartAt.toISOString()),
        asked.map(({ hoursEndAt }) => hoursEndAt.toISOString()),
        asked.map(({ endAt }) => endAt.toISOString()),
        ...(exact ? [upToPosition.toString()] : []),
      ],
    );
    for (const row of rows) {
      if (row.place !== null) totals[row.place]?.set(row.group_key, toTotals(row));
    }
    return { totals, lastPosition: BigInt(rows[0]?.last_position ?? 0) };
  }
}

function toTotals(row: TotalsRow): UsageTotals {
  return {
    events: BigInt(row.events),
    total: parseExact(row.total),
    greatest: row.greatest === null ? null : parseExact(row.greatest),
    latest: row.latest === null ? null : parseExact(row.latest),
    heldMs: parseExact(row.held_ms),
    distinctValues: BigInt(row.distinct_values),
  };
}
