import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { tooManyReports } from '../../platform/errors';
import { Operation, type PageDto, pageOf, toPageDto, toPageRequest } from '../../platform/http';
import { ExpandsCustomers, withCustomer } from '../customers';
import { tooManyWindows } from '../metering';
import { reportPeriodEmpty } from './analytics.errors';
import {
  ListMrrChangesDto,
  MrrChangeDto,
  MrrDto,
  MrrMovementsDto,
  toMrrChangeDto,
  toMrrChangeFilter,
  toMrrDto,
  toMrrMovementsDto,
} from './dto/mrr.dto';
import { ReportQueryDto, toReportRange } from './dto/report.dto';
import { MrrService } from './mrr.service';

const WINDOW_PROBLEMS = [reportPeriodEmpty, tooManyWindows, tooManyReports];

@ApiTags('Analytics')
@Controller('v1/analytics/mrr')
export class MrrController {
  constructor(private readonly mrr: MrrService) {}

  @Get()
  @Operation({
    summary: 'Read the monthly recurring revenue over time',
    description:
      'What `active` and `past_due` subscriptions cost per month at the end of each window: prices without usage, less coupons that ' +
      'last longer than one invoice, before taxes. Customers on test clocks are left out.',
    access: 'analytics:read',
    answer: MrrDto,
    problems: WINDOW_PROBLEMS,
  })
  async getMrr(@Query() query: ReportQueryDto): Promise<MrrDto> {
    return toMrrDto(await this.mrr.read(toReportRange(query), query.currency ?? null));
  }

  @Get('movements')
  @Operation({
    summary: 'Read what changed the monthly recurring revenue',
    description:
      'Sums the changes of each window by kind. `closing` of a window is `opening` of the next one.',
    access: 'analytics:read',
    answer: MrrMovementsDto,
    problems: WINDOW_PROBLEMS,
  })
  async getMrrMovements(@Query() query: ReportQueryDto): Promise<MrrMovementsDto> {
    return toMrrMovementsDto(await this.mrr.read(toReportRange(query), query.currency ?? null));
  }

  @Get('changes')
  @ExpandsCustomers()
  @Operation({
    summary: 'List changes of the monthly recurring revenue',
    description:
      'The changes of single subscriptions that the movements sum up, by `changed_at`, the latest first.',
    access: 'analytics:read',
    answer: pageOf(withCustomer(MrrChangeDto)),
  })
  async listMrrChanges(@Query() query: ListMrrChangesDto): Promise<PageDto<MrrChangeDto>> {
    const page = await this.mrr.listChanges(toMrrChangeFilter(query), toPageRequest(query, 'mrrc'));
    return toPageDto(page, toMrrChangeDto);
  }
}
