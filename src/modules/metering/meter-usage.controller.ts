import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import { tooManyReports } from '../../platform/errors';
import { IdPipe, Operation } from '../../platform/http';
import { customerNotFound } from '../customers';
import { meterBackfilling, meterNotFound } from '../meters';
import {
  DEFAULT_TIME_ZONE,
  DEFAULT_TOP,
  MeterTotalsQueryDto,
  MeterUsageQueryDto,
  toGroupBy,
  toPeriod,
  TopCustomersQueryDto,
} from './dto/meter-usage-query.dto';
import {
  MeterTotalsDto,
  MeterUsageDto,
  toMeterTotalsDto,
  toMeterUsageDto,
} from './dto/meter-usage.dto';
import { TopCustomersDto, toTopCustomersDto } from './dto/top-customers.dto';
import { MeterUsageService } from './meter-usage.service';
import {
  meterNotTotalled,
  tooManyWindows,
  tooMuchUsageToTotal,
  unknownGroup,
  usageArchived,
  usagePeriodEmpty,
} from './usage.errors';

const DEFAULT_CUSTOMERS = 20;

const meterId = new IdPipe('meter', meterNotFound);

@ApiTags('Meters')
@Controller('v1/meters')
export class MeterUsageController {
  constructor(private readonly usage: MeterUsageService) {}

  @Get(':id/usage')
  @Operation({
    summary: 'Read the usage of a customer',
    description: 'Returns exact usage by window and in total, from one snapshot.',
    access: 'usage:read',
    answer: MeterUsageDto,
    problems: [
      meterNotFound,
      customerNotFound,
      meterBackfilling,
      usagePeriodEmpty,
      tooManyWindows,
      unknownGroup,
      tooManyReports,
      usageArchived,
    ],
  })
  async getMeterUsage(
    @Param('id', meterId) id: string,
    @Query() query: MeterUsageQueryDto,
  ): Promise<MeterUsageDto> {
    const usage = await this.usage.read({
      meterId: id,
      customerId: query.customer_id,
      period: toPeriod(query),
      interval: query.window ?? null,
      timeZone: query.time_zone ?? null,
      groupBy: toGroupBy(query.group_by),
    });
    return toMeterUsageDto(usage);
  }

  @Get(':id/totals')
  @Operation({
    summary: 'Read the usage of all customers together',
    description:
      'Returns exact usage by window and in total, from one snapshot. Only for meters that aggregate by `count`, `sum` or ' +
      '`max`; `max` is the greatest value of any customer. Customers on test clocks are left out: their time is not real.',
    access: 'usage:read',
    answer: MeterTotalsDto,
    problems: [
      meterNotFound,
      meterBackfilling,
      meterNotTotalled,
      usagePeriodEmpty,
      tooManyWindows,
      unknownGroup,
      tooMuchUsageToTotal,
      tooManyReports,
      usageArchived,
    ],
  })
  async getMeterTotals(
    @Param('id', meterId) id: string,
    @Query() query: MeterTotalsQueryDto,
  ): Promise<MeterTotalsDto> {
    const totals = await this.usage.totals({
      meterId: id,
      period: toPeriod(query),
      interval: query.window ?? null,
      timeZone: query.time_zone ?? DEFAULT_TIME_ZONE,
      groupBy: toGroupBy(query.group_by),
      top: query.top ?? DEFAULT_TOP,
    });
    return toMeterTotalsDto(totals);
  }

  @Get(':id/customers')
  @Operation({
    summary: 'List the customers with the largest usage',
    description:
      'Returns the exact usage of the customers with the largest usage, the number of all customers with usage, and the sum ' +
      'of their values. Customers on test clocks are left out: their time is not real. Names of customers are left out for ' +
      'callers without `customers:read`.',
    access: 'usage:read',
    answer: TopCustomersDto,
    problems: [meterNotFound, meterBackfilling, usagePeriodEmpty, tooManyReports, usageArchived],
  })
  async listTopCustomers(
    @Param('id', meterId) id: string,
    @Query() query: TopCustomersQueryDto,
    @Caller() { scopes }: Principal,
  ): Promise<TopCustomersDto> {
    const limit = query.limit ?? DEFAULT_CUSTOMERS;
    const top = await this.usage.topCustomers(id, toPeriod(query), limit);
    return toTopCustomersDto(top, scopes.has('customers:read'));
  }
}
