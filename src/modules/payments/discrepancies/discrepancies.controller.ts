import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidTransition } from '../../../platform/errors';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../../platform/http';
import { discrepancyNotFound } from './discrepancies.errors';
import { DiscrepanciesService } from './discrepancies.service';
import { DiscrepancyDto, toDiscrepancyDto } from './dto/discrepancy.dto';
import { ListDiscrepanciesDto } from './dto/list-discrepancies.dto';

const discrepancyId = new IdPipe('dscr', discrepancyNotFound);

@ApiTags('Provider discrepancies')
@Controller('v1/provider-discrepancies')
export class DiscrepanciesController {
  constructor(private readonly discrepancies: DiscrepanciesService) {}

  @Get()
  @Operation({
    summary: 'List provider discrepancies',
    description:
      'Provider reports that contradict the final status of a payment or refund. An operator must apply or ' +
      'dismiss those with status `open`.',
    access: 'payments:read',
    answer: pageOf(DiscrepancyDto),
  })
  async listProviderDiscrepancies(
    @Query() query: ListDiscrepanciesDto,
  ): Promise<PageDto<DiscrepancyDto>> {
    const page = await this.discrepancies.list(query.status ?? null, toPageRequest(query, 'dscr'));
    return toPageDto(page, toDiscrepancyDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a provider discrepancy',
    description: 'Returns the discrepancy with its resolution.',
    access: 'payments:read',
    answer: DiscrepancyDto,
    problems: [discrepancyNotFound],
  })
  async getProviderDiscrepancy(@Param('id', discrepancyId) id: string): Promise<DiscrepancyDto> {
    return toDiscrepancyDto(await this.discrepancies.get(id));
  }

  @Post(':id/dismiss')
  @Operation({
    summary: 'Dismiss a provider discrepancy',
    description:
      'Closes a discrepancy that was resolved outside this service. The payment or refund does not change.',
    access: 'payments:write',
    answer: DiscrepancyDto,
    key: 'optional',
    problems: [discrepancyNotFound, invalidTransition],
  })
  async dismissProviderDiscrepancy(
    @Param('id', discrepancyId) id: string,
  ): Promise<DiscrepancyDto> {
    return toDiscrepancyDto(await this.discrepancies.dismiss(id));
  }
}
