import { Injectable } from '@nestjs/common';
import type { InstantRange } from '../../core/time';
import { Clock } from '../../platform/clock';
import { Reports } from '../../platform/database';
import { CollectionRepository } from './collection.repository';
import type { CollectionRow } from './domain/collection';
import type { RevenueGroup, RevenueRow } from './domain/revenue';
import { ReceivablesRepository, type ReceivablesReport } from './receivables.repository';
import {
  MAX_WINDOWS,
  type Report,
  type ReportRange,
  reportOf,
  reportPeriodOf,
} from './report-windows';
import { RevenueRepository } from './revenue.repository';

/** Maximum number of rows of a revenue report: windows times groups, for example 100 days times 100 plans. */
const MAX_ROWS = 10_000;

@Injectable()
export class BooksService {
  constructor(
    private readonly owed: ReceivablesRepository,
    private readonly revenues: RevenueRepository,
    private readonly collections: CollectionRepository,
    private readonly reports: Reports,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the amounts owed on invoices at an instant, by currency. Without a limit, returns the sums of all
   * customers. With a limit, returns one row for each of the customers who owed most, largest amount first.
   * @param instant null: now
   * @param limit maximum number of customers per currency; null: no limit
   * @throws {ProblemError} `too_many_reports`
   */
  receivables(instant: Date | null, limit: number | null): Promise<ReceivablesReport> {
    return this.owed.read(instant, limit);
  }

  /**
   * Returns the revenue by currency, window (such as a month) and group (such as a plan). For each currency, returns
   * only the `limit` groups with the most revenue in the whole period.
   * @param group null: not grouped
   * @throws {ProblemError} `report_period_empty`, `too_many_windows`, `too_many_reports`
   */
  async revenue(
    range: ReportRange,
    currency: string | null,
    group: RevenueGroup | null,
    limit: number,
  ): Promise<Report<RevenueRow>> {
    const maxWindows = group === null ? MAX_WINDOWS : Math.floor(MAX_ROWS / limit);
    const { period, divide } = reportOf(range, this.clock.now(), Math.min(MAX_WINDOWS, maxWindows));
    const rows = await this.reports.run('analytics', () =>
      this.revenues.within(divide(), currency, group, limit),
    );
    return { period, rows };
  }

  /**
   * Returns the number and the sum of the automatic charges that were created in a period, by currency, attempt number,
   * status and failure code.
   * @throws {ProblemError} `report_period_empty`, `too_many_reports`
   */
  async collection(range: InstantRange, currency: string | null): Promise<Report<CollectionRow>> {
    const period = reportPeriodOf(range, 'UTC', this.clock.now());
    return { period, rows: await this.collections.within(period, currency) };
  }
}
