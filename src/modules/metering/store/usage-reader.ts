import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import type { Period } from '../../../core/time';
import {
  carryOverStart,
  type GroupUsage,
  readingsOf,
  type TotalsByGroup,
  type UsageTotals,
} from '../../../core/usage';
import { Database } from '../../../platform/database';
import { isProblem, type ProblemError } from '../../../platform/errors';
import { ArchivedUsage } from '../archive/archived-usage';
import type { ArchivedMonth } from '../domain/archived-month';
import { edgesOf, splitAtHours, withoutHours } from '../domain/hours';
import { tooManyWindows, usageArchived } from '../usage.errors';
import { REQUESTED_PERIODS, requestedPeriodParameters } from './requested-periods';
import { type TotalsRow, toUsageTotals } from './totals-row';
import { groupOf, NOT_VOIDED, totalsOf } from './totals-sql';
import {
  MAX_RECOUNTED_EVENTS,
  type UsageQuery,
  type UsageReading,
  type UsageSeries,
  type UsageSeriesQuery,
} from '../usage-store';
import { UsageStreams } from './usage-streams';

/** SQL condition: the event was stored and not yet voided when the last position of its stream was $8. */
const COUNTED_AT_POSITION =
  'event.position <= $8 AND (event.voided_position IS NULL OR event.voided_position > $8)';

const HAS_MORE_EVENTS = `
  SELECT true FROM usage_event WHERE stream_id = $1 AND occurred_at >= $2 AND occurred_at < $3
  OFFSET ${MAX_RECOUNTED_EVENTS} LIMIT 1`;

/** Index of the period before the windows. Only totals other than 0 carry over from it. */
const BEFORE = 0;

/** Maximum number of values in a series, over all windows. */
const MAX_SERIES_VALUES = 100_000;

interface GroupTotalsRow extends TotalsRow {
  readonly last_position: string;
  /** Index of the period. Null in the single row of a stream that has no events in any period. */
  readonly number: number | null;
  readonly group_key: string;
}

interface ReadLimits {
  readonly upToPosition: bigint | null;
  /** Maximum number of values over all windows; null: no limit. */
  readonly maxValues: number | null;
}

/**
 * Reads the usage of a customer with one statement, so that the answer is consistent. Reads whole hours from running
 * totals, and the time before and after them from single events. Reads usage up to an earlier stream position from
 * single events only.
 */
@Injectable()
export class UsageReader {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
    private readonly archivedUsage: ArchivedUsage,
  ) {}

  async aggregate(requested: UsageQuery): Promise<UsageReading> {
    const { customerId, meter, period, heldSince, upToPosition } = requested;
    const query = { customerId, meter, windows: [period], groupBy: meter.groupBy, heldSince };
    const reading = await this.read(query, { upToPosition, maxValues: null });
    const { whole, countedFrom } = reading;
    return { groups: whole, countedFrom, upToPosition: upToPosition ?? reading.upToPosition };
  }

  async recount(
    query: UsageQuery & { readonly upToPosition: bigint },
  ): Promise<UsageReading | null> {
    const { customerId, meter, period } = query;
    const stream = await this.streams.idOf({ customerId, eventName: meter.eventName });
    if (stream === null) return this.aggregate(query);
    const isTooLong = await this.database.queryValue<boolean>(HAS_MORE_EVENTS, [
      stream,
      period.startAt,
      period.endAt,
    ]);
    const archivedBefore = await this.archivedUsage.archiveEndOfStream(stream);
    const isArchived = archivedBefore !== null && archivedBefore > period.startAt;
    if (isTooLong === true || isArchived) return null;
    try {
      return await this.aggregate(query);
    } catch (error) {
      // The archive may have written a month since it was asked.
      if (isProblem(error, usageArchived)) return null;
      throw error;
    }
  }

  listArchived(queries: readonly UsageQuery[]): Promise<readonly (readonly ArchivedMonth[])[]> {
    return this.archivedUsage.findMonths(
      queries.map(({ customerId, meter, period, heldSince }) => {
        const startAt = carryOverStart(meter, heldSince) ?? period.startAt;
        return { customerId, eventName: meter.eventName, period: { startAt, endAt: period.endAt } };
      }),
    );
  }

  series(query: UsageSeriesQuery): Promise<UsageSeries> {
    return this.read(query, { upToPosition: null, maxValues: MAX_SERIES_VALUES });
  }

  private async read(query: UsageSeriesQuery, limits: ReadLimits): Promise<UsageSeries> {
    const { meter, windows } = query;
    const [first, last] = [windows.at(0), windows.at(-1)];
    invariant(first !== undefined && last !== undefined, 'There is at least one window.');
    const whole = { startAt: first.startAt, endAt: last.endAt };
    const heldSince = carryOverStart(meter, query.heldSince);
    const before = { startAt: heldSince ?? whole.startAt, endAt: whole.startAt };
    const { totals, lastPosition } = await this.totals(query, [before, whole, ...windows], limits);
    const [ofBefore, ofWhole, ...ofWindows] = totals;
    invariant(ofBefore !== undefined && ofWhole !== undefined, 'Each period has totals.');
    const rule = { ...meter, groupBy: query.groupBy };
    const held = heldSince === null ? null : ofBefore;
    return {
      whole: [...readingsOf(rule, [whole], [ofWhole], held)].flat(),
      windows: collect(readingsOf(rule, windows, ofWindows, held), limits.maxValues),
      countedFrom: before.startAt,
      upToPosition: lastPosition,
    };
  }

  private async totals(
    { customerId, meter, groupBy }: UsageSeriesQuery,
    periods: readonly Period[],
    { upToPosition, maxValues }: ReadLimits,
  ): Promise<{ readonly totals: readonly TotalsByGroup[]; readonly lastPosition: bigint }> {
    const totals = periods.map(() => new Map<string, UsageTotals>());
    const stream = await this.streams.idOf({ customerId, eventName: meter.eventName });
    if (stream === null) return { totals, lastPosition: 0n };
    const exact = upToPosition !== null;
    // The windows, the whole period, and the time before it.
    const maxRows = maxValues === null ? null : 3 * maxValues;
    // Running totals include everything up to the last position. Usage at an earlier position is counted from events.
    const requested = periods.map(exact ? withoutHours : splitAtHours);
    const pieces = {
      aggregation: meter.aggregation,
      stream: '$1',
      meter: '$2',
      requested: REQUESTED_PERIODS,
      condition: exact ? COUNTED_AT_POSITION : NOT_VOIDED,
      groupBy: meter.groupBy,
    };
    const rows = await this.database.query<GroupTotalsRow>(
      `SELECT s.last_position, t.*
       FROM usage_stream s LEFT JOIN ${totalsOf(pieces, groupOf(meter.groupBy, groupBy))} t
         ON t.number <> ${BEFORE} OR t.total <> 0
       WHERE s.id = $1
       LIMIT ${maxRows === null ? 'ALL' : maxRows + 1}`,
      [
        stream,
        meter.id,
        ...requestedPeriodParameters(requested),
        ...(exact ? [upToPosition.toString()] : []),
      ],
    );
    if (rows.length > (maxRows ?? Infinity)) throw tooManyValues();
    await this.archivedUsage.requireStored(stream, meter.id, requested.flatMap(edgesOf), exact);
    for (const row of rows) {
      if (row.number !== null) totals[row.number]?.set(row.group_key, toUsageTotals(row));
    }
    return { totals, lastPosition: BigInt(rows[0]?.last_position ?? 0) };
  }
}

const tooManyValues = (): ProblemError => tooManyWindows(MAX_SERIES_VALUES, 'values');

/** @throws {ProblemError} `too_many_windows` */
function collect(
  readings: Iterable<readonly GroupUsage[]>,
  maxValues: number | null,
): readonly (readonly GroupUsage[])[] {
  const collected: (readonly GroupUsage[])[] = [];
  let values = 0;
  for (const groups of readings) {
    values += groups.length;
    if (values > (maxValues ?? Infinity)) throw tooManyValues();
    collected.push(groups);
  }
  return collected;
}
