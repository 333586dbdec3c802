import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { tooManyReports } from '../../../platform/errors';
import { IdPipe, Operation } from '../../../platform/http';
import { customerNotFound } from '../../customers';
import {
  MeterPeriodDto,
  tooManyEventsToProve,
  toPeriod,
  toUsageProofDto,
  usagePeriodEmpty,
  UsageProofDto,
} from '../../metering';
import { meterNotFound } from '../../meters';
import { ProveUsageWorkflow } from './prove-usage.workflow';

const meterId = new IdPipe('meter', meterNotFound);

@ApiTags('Meters')
@Controller('v1/meters')
export class UsageProofController {
  constructor(private readonly usage: ProveUsageWorkflow) {}

  @Get(':id/proof')
  @Operation({
    summary: 'Prove the usage of a customer',
    description:
      'Returns how many events were accepted and their outcomes, with a digest over their keys that a client can compute ' +
      'from its own log.',
    access: 'usage:read',
    answer: UsageProofDto,
    problems: [
      meterNotFound,
      customerNotFound,
      usagePeriodEmpty,
      tooManyEventsToProve,
      tooManyReports,
    ],
  })
  async proveMeterUsage(
    @Param('id', meterId) id: string,
    @Query() query: MeterPeriodDto,
  ): Promise<UsageProofDto> {
    return toUsageProofDto(await this.usage.prove(id, query.customer_id, toPeriod(query)));
  }
}
