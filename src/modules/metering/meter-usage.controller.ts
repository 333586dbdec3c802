import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdPipe, Operation } from '../../platform/http';
import { customerNotFound } from '../customers';
import { meterBackfilling, meterNotFound } from '../meters';
import { MeterUsageQueryDto, toPeriod } from './dto/meter-usage-query.dto';
import { MeterUsageDto, toMeterUsageDto } from './dto/meter-usage.dto';
import { MeterUsageService } from './meter-usage.service';
import { tooManyWindows, unknownGroup, usagePeriodEmpty } from './usage.errors';

const meterId = new IdPipe('meter', meterNotFound);

@ApiTags('Meters')
@Controller('v1/meters')
export class MeterUsageController {
  constructor(private readonly usage: MeterUsageService) {}

  @Get(':id/usage')
  @Operation({
    summary: 'Read the usage of a customer',
    description:
      "Returns exact usage by window and in total, from one snapshot. Windows follow the customer's local time.",
    access: 'usage:read',
    answer: MeterUsageDto,
    problems: [
      meterNotFound,
      customerNotFound,
      meterBackfilling,
      usagePeriodEmpty,
      tooManyWindows,
      unknownGroup,
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
      groupBy: query.group_by === undefined ? [] : [...new Set(query.group_by.split(','))],
    });
    return toMeterUsageDto(usage);
  }
}
