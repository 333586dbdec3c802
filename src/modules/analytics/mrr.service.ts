import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { type Page, type PageRequest, Reports } from '../../platform/database';
import {
  type MrrChange,
  type MrrChangeFilter,
  RecurringRevenueService,
} from '../recurring-revenue';
import { type MrrWindow, mrrWindows } from './mrr-windows';
import { type Report, type ReportRange, reportOf } from './report-windows';

@Injectable()
export class MrrService {
  constructor(
    private readonly revenue: RecurringRevenueService,
    private readonly reports: Reports,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the MRR of each currency in each window, such as a month. Reads from one snapshot of the database.
   * @throws {ProblemError} `report_period_empty`, `too_many_windows`, `too_many_reports`
   */
  async read(range: ReportRange, currency: string | null): Promise<Report<MrrWindow>> {
    const { period, divide } = reportOf(range, this.clock.now());
    return this.reports.run('analytics', async () => {
      const windows = divide();
      const sums = await this.revenue.sumsWithin(windows, currency);
      return { period, rows: mrrWindows(windows, sums) };
    });
  }

  listChanges(filter: MrrChangeFilter, request: PageRequest): Promise<Page<MrrChange>> {
    return this.revenue.list(filter, request);
  }
}
