import { Injectable } from '@nestjs/common';
import { parseExact, ZERO } from '../../../core/decimal';
import { type Aggregation, carryOverStart, valueOf } from '../../../core/usage';
import { Database } from '../../../platform/database';
import { ArchivedUsage } from '../archive/archived-usage';
import { edgesOf, splitAtHours } from '../domain/hours';
import type { LargestUsage, LargestUsageQuery } from '../usage-store';
import { REQUESTED_PERIODS, requestedPeriodParameters } from './requested-periods';
import { type TotalsRow, toUsageTotals } from './totals-row';
import { groupOf, NOT_VOIDED, totalsOf } from './totals-sql';

/** SQL of the number by which customers are ranked, for each aggregation. */
const RANK: Record<Aggregation, string> = {
  count: 'events',
  sum: 'total',
  max: 'greatest',
  latest: 'latest',
  unique: 'distinct_values',
  weighted_sum: 'held_ms + carried_over * $9::numeric',
};

/**
 * SQL of the totals of a customer. Rows whose `number` is 0 have totals of the period. Rows whose `number` is 1 have
 * totals of the time before the period, from which values carry over.
 */
const TOTALS = `
  coalesce(sum(events) FILTER (WHERE number = 0), 0) AS events,
  coalesce(sum(total) FILTER (WHERE number = 0), 0) AS total,
  coalesce(max(greatest) FILTER (WHERE number = 0), 0) AS greatest,
  coalesce(max(latest) FILTER (WHERE number = 0), 0) AS latest,
  coalesce(sum(held_ms) FILTER (WHERE number = 0), 0) AS held_ms,
  coalesce(sum(distinct_values) FILTER (WHERE number = 0), 0) AS distinct_values,
  coalesce(sum(total) FILTER (WHERE number = 1), 0) AS carried_over`;

const COLUMNS = 'events, total, greatest, latest, held_ms, distinct_values, carried_over';

const SUMS = COLUMNS.split(', ')
  .map((column) => `coalesce(sum(${column}), 0) AS ${column}`)
  .join(', ');

interface CustomerTotalsRow extends TotalsRow {
  /** Null in the row with the sums of all customers. */
  readonly customer_id: string | null;
  readonly customers: string;
  readonly carried_over: string;
}

/** Reads the customers with the largest usage in one statement. {@link UsageReader} would read the same values. */
@Injectable()
export class LargestUsageReader {
  constructor(
    private readonly database: Database,
    private readonly archivedUsage: ArchivedUsage,
  ) {}

  async read({ meter, period, limit }: LargestUsageQuery): Promise<LargestUsage> {
    const { aggregation } = meter;
    const edges = edgesOf(splitAtHours(period));
    await this.archivedUsage.requireUnarchivedOfEventName(meter.eventName, edges);
    const heldSince = carryOverStart(meter, undefined);
    const before =
      heldSince === null ? [] : [splitAtHours({ startAt: heldSince, endAt: period.startAt })];
    const pieces = {
      aggregation,
      stream: 'stream.id',
      meter: '$2',
      requested: REQUESTED_PERIODS,
      condition: NOT_VOIDED,
      groupBy: meter.groupBy,
    };
    const periodMs = period.endAt.getTime() - period.startAt.getTime();
    const rows = await this.database.query<CustomerTotalsRow>(
      `WITH used AS (
         SELECT stream.customer_id, ${TOTALS}
         FROM usage_stream stream
           JOIN customer ON customer.id = stream.customer_id AND customer.test_clock_id IS NULL
           CROSS JOIN LATERAL ${totalsOf(pieces, groupOf(meter.groupBy, []))} AS totals
         WHERE stream.event_name = $1
         GROUP BY stream.customer_id
       ), ranked AS (
         SELECT *, row_number() OVER (ORDER BY ${RANK[aggregation]} DESC, customer_id) AS place
         FROM used WHERE events > 0 OR carried_over <> 0
       )
       SELECT NULL AS customer_id, count(*) AS customers, ${SUMS}, 0 AS place FROM ranked
       UNION ALL
       SELECT customer_id, 1, ${COLUMNS}, place FROM ranked WHERE place <= $8
       ORDER BY place`,
      [
        meter.eventName,
        meter.id,
        ...requestedPeriodParameters([splitAtHours(period), ...before]),
        limit,
        ...(aggregation === 'weighted_sum' ? [periodMs] : []),
      ],
    );
    const usage = rows.map((row) => ({
      customerId: row.customer_id,
      customers: Number(row.customers),
      value: valueOf(aggregation, toUsageTotals(row), period, parseExact(row.carried_over)),
    }));
    const [all] = usage;
    return {
      data: usage.flatMap(({ customerId, value }) =>
        customerId === null ? [] : [{ customerId, value }],
      ),
      customers: all?.customers ?? 0,
      total: all?.value ?? ZERO,
    };
  }
}
