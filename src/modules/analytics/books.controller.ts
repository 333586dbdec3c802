import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import { tooManyReports } from '../../platform/errors';
import { Operation, toInstantRange } from '../../platform/http';
import { tooManyWindows } from '../metering';
import { reportPeriodEmpty } from './analytics.errors';
import { BooksService } from './books.service';
import {
  CollectionDto,
  CollectionQueryDto,
  MAX_GROUPS,
  RevenueDto,
  RevenueQueryDto,
  toCollectionDto,
  toRevenueDto,
} from './dto/books.dto';
import { ReceivablesDto, ReceivablesQueryDto, toReceivablesDto } from './dto/receivables.dto';
import { toReportRange } from './dto/report.dto';

const MAX_CUSTOMERS = 100;

@ApiTags('Analytics')
@Controller('v1/analytics')
export class BooksController {
  constructor(private readonly books: BooksService) {}

  @Get('receivables')
  @Operation({
    summary: 'Read the receivables by age',
    description:
      'Amounts owed on open invoices, now or at an instant, by days overdue. Customers on test clocks are left ' +
      'out, and so are invoices that were written off. The total is the balance of the account `accounts_receivable` of these ' +
      'customers, now or at that instant. ' +
      'Names of customers are left out for callers without `customers:read`.',
    access: 'analytics:read',
    answer: ReceivablesDto,
    problems: [tooManyReports],
  })
  async getReceivables(
    @Query() query: ReceivablesQueryDto,
    @Caller() { scopes }: Principal,
  ): Promise<ReceivablesDto> {
    const instant = query.at === undefined ? null : new Date(query.at);
    const limit = query.group_by === 'customer' ? (query.limit ?? MAX_CUSTOMERS) : null;
    const { at, rows } = await this.books.receivables(instant, limit);
    return toReceivablesDto(at, rows, scopes.has('customers:read'));
  }

  @Get('revenue')
  @Operation({
    summary: 'Read the revenue over time',
    description:
      'Movements of the revenue accounts in the ledger, by window. Customers on test clocks are left out. Names of customers ' +
      'are left out for callers without `customers:read`.',
    access: 'analytics:read',
    answer: RevenueDto,
    problems: [reportPeriodEmpty, tooManyWindows, tooManyReports],
  })
  async getRevenue(
    @Query() query: RevenueQueryDto,
    @Caller() { scopes }: Principal,
  ): Promise<RevenueDto> {
    const group = query.group_by ?? null;
    const limit = query.limit ?? MAX_GROUPS;
    const report = await this.books.revenue(
      toReportRange(query),
      query.currency ?? null,
      group,
      limit,
    );
    return toRevenueDto(report, group, scopes.has('customers:read'));
  }

  @Get('collection')
  @Operation({
    summary: 'Read the results of automatic charges',
    description: 'By attempt, status and failure code. Customers on test clocks are left out.',
    access: 'analytics:read',
    answer: CollectionDto,
    problems: [reportPeriodEmpty, tooManyReports],
  })
  async getCollection(@Query() { from, to, currency }: CollectionQueryDto): Promise<CollectionDto> {
    const range = toInstantRange(from, to);
    const report = await this.books.collection(range, currency ?? null);
    return toCollectionDto(report);
  }
}
