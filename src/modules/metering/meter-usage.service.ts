import { Injectable } from '@nestjs/common';
import { type Rational, ZERO } from '../../core/decimal';
import { isTooLongFor, type Period, windowsOf } from '../../core/time';
import type { GroupUsage } from '../../core/usage';
import { Database, Reports } from '../../platform/database';
import { raise } from '../../platform/errors';
import { CustomersService } from '../customers';
import { type Meter, meterBackfilling, MetersService } from '../meters';
import { edgeHoursOf } from './domain/hours';
import { isTotalled } from './domain/totalled-aggregation';
import type { UsageInterval } from './domain/usage-intervals';
import { type LargestUsage, type ProofQuery, type TotalUsage, UsageStore } from './usage-store';
import { meterNotTotalled, tooManyWindows, unknownGroup, usagePeriodEmpty } from './usage.errors';

const MAX_WINDOWS = 2_000;

/** Maximum number of hours that a request counts from single events, such as 100 days that begin at half past an hour. */
const MAX_EDGE_HOURS = 100;

interface SeriesQuery {
  readonly meterId: string;
  readonly period: Period;
  /** Length of the time windows into which the period is divided; null: the whole period is one window. */
  readonly interval: UsageInterval | null;
  readonly groupBy: readonly string[];
}

export interface MeterUsageQuery extends SeriesQuery {
  readonly customerId: string;
  /** Time zone that the windows follow; null: that of the customer. */
  readonly timeZone: string | null;
}

export interface MeterTotalsQuery extends SeriesQuery {
  readonly timeZone: string;
  /** Number of groups to list, those with the largest values. All other groups are combined into one entry. */
  readonly top: number;
}

export interface MeterUsage {
  readonly windows: readonly { readonly period: Period; readonly groups: readonly GroupUsage[] }[];
  readonly groupBy: readonly string[];
  /** Usage of the whole period over all groups. */
  readonly total: Rational;
}

export interface MeterTotals {
  readonly windows: readonly {
    readonly period: Period;
    readonly groups: TotalUsage['windows'][number];
  }[];
  readonly groupBy: readonly string[];
  readonly total: Rational;
}

export interface TopCustomers extends Omit<LargestUsage, 'data'> {
  readonly data: readonly (LargestUsage['data'][number] & {
    readonly customerName: string;
    readonly isDeleted: boolean;
  })[];
}

/** Reads the usage that a meter counts, and prepares usage proofs (numbers of events by outcome). */
@Injectable()
export class MeterUsageService {
  constructor(
    private readonly database: Database,
    private readonly meters: MetersService,
    private readonly customers: CustomersService,
    private readonly store: UsageStore,
    private readonly reports: Reports,
  ) {}

  /**
   * Returns a customer's usage in each window and in the whole period, from one snapshot. Runs as a report if the
   * windows cut many hours.
   * @throws {ProblemError} `meter_not_found`, `meter_backfilling`, `customer_not_found`, `usage_period_empty`,
   *   `too_many_windows`, `unknown_group`, `too_many_reports`, `usage_archived`
   */
  async read(query: MeterUsageQuery): Promise<MeterUsage> {
    const { customerId, period, groupBy } = query;
    const meter = await this.countedMeter(query.meterId);
    const { timezone } = await this.customers.getForHistory(customerId);
    const windows = windowsFor(meter, query, query.timeZone ?? timezone)();
    const reads = async (): Promise<MeterUsage> => {
      const series = await this.store.series({ customerId, meter, windows, groupBy });
      const together =
        groupBy.length === 0
          ? series
          : await this.store.series({ customerId, meter, windows: [period], groupBy: [] });
      return {
        windows: windows.map((window, index) => ({
          period: window,
          groups: series.windows[index] ?? [],
        })),
        groupBy,
        total: together.whole[0]?.value ?? ZERO,
      };
    };
    return edgeHoursOf(windows) > MAX_EDGE_HOURS
      ? this.reports.run('analytics', reads)
      : this.database.snapshot(reads);
  }

  /**
   * Returns the usage of all customers together, in each window and in the whole period.
   * @throws {ProblemError} `meter_not_found`, `meter_backfilling`, `meter_not_totalled`, `usage_period_empty`,
   *   `too_many_windows`, `unknown_group`, `too_much_usage_to_total`, `too_many_reports`, `usage_archived`
   */
  async totals(query: MeterTotalsQuery): Promise<MeterTotals> {
    const { groupBy, top, timeZone } = query;
    const meter = await this.countedMeter(query.meterId);
    const { aggregation } = meter;
    if (!isTotalled(aggregation)) throw meterNotTotalled(aggregation);
    const divide = windowsFor(meter, query, timeZone);
    return this.reports.run('analytics', async () => {
      const windows = divide();
      const requested = { meter: { ...meter, aggregation }, windows, groupBy, top };
      const totals = await this.store.total(requested);
      return {
        windows: windows.map((period, index) => ({ period, groups: totals.windows[index] ?? [] })),
        groupBy,
        total: totals.total,
      };
    });
  }

  /**
   * @throws {ProblemError} `meter_not_found`, `meter_backfilling`, `usage_period_empty`, `too_many_reports`,
   *   `usage_archived`
   */
  async topCustomers(meterId: string, period: Period, limit: number): Promise<TopCustomers> {
    const meter = await this.countedMeter(meterId);
    if (period.startAt >= period.endAt) throw usagePeriodEmpty();
    return this.reports.run('analytics', async () => {
      const { data, ...sums } = await this.store.largest({ meter, period, limit });
      const customers = await this.customers.getAllForHistory(
        data.map(({ customerId }) => customerId),
      );
      return {
        ...sums,
        data: data.map((row) => {
          const customer = customers.get(row.customerId);
          return {
            ...row,
            customerName: customer?.name ?? '',
            isDeleted: (customer?.deletedAt ?? null) !== null,
          };
        }),
      };
    });
  }

  private async countedMeter(id: string): Promise<Meter> {
    const meter = await this.meters.get(id);
    if (meter.status !== 'active') throw meterBackfilling(meter.id);
    return meter;
  }

  /**
   * Checks the parameters of a usage proof (numbers of events by outcome). Returns the query for
   * {@link UsageStore.prove}. The caller adds the periods that are never billed.
   * @throws {ProblemError} `meter_not_found`, `customer_not_found`, `usage_period_empty`
   */
  async proofOf(
    meterId: string,
    customerId: string,
    period: Period,
  ): Promise<Omit<ProofQuery, 'unbillable'>> {
    const meter = await this.meters.get(meterId);
    await this.customers.getForHistory(customerId);
    if (period.startAt >= period.endAt) throw usagePeriodEmpty();
    return { customerId, meter, period };
  }
}

/**
 * Checks a query, and returns a function that computes its windows. The caller decides when to call the function,
 * because it may run long. The function throws `too_many_windows` as well.
 * @throws {ProblemError} `usage_period_empty`, `too_many_windows` if the length alone shows it, `unknown_group`
 */
function windowsFor(
  meter: Meter,
  { period, interval, groupBy }: SeriesQuery,
  timeZone: string,
): () => readonly Period[] {
  if (period.startAt >= period.endAt) throw usagePeriodEmpty();
  for (const name of groupBy) if (!meter.groupBy.includes(name)) throw unknownGroup(name);
  if (interval === null) return () => [period];
  if (isTooLongFor(period, interval, MAX_WINDOWS)) throw tooManyWindows(MAX_WINDOWS);
  return () =>
    windowsOf(period, timeZone, interval, MAX_WINDOWS) ?? raise(tooManyWindows(MAX_WINDOWS));
}
