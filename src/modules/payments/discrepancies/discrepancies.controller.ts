import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor, invalidTransition } from '../../../platform/errors';
import {
  IdPipe,
  NoFields,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../../platform/http';
import { refundAmountExceedsRefundable } from '../payments.errors';
import { ApplyDiscrepancyService } from './apply-discrepancy.service';
import { discrepancyNotApplicable, discrepancyNotFound } from './discrepancies.errors';
import { DiscrepanciesService } from './discrepancies.service';
import { DiscrepancyDto, toDiscrepancyDto } from './dto/discrepancy.dto';
import { ListDiscrepanciesDto } from './dto/list-discrepancies.dto';

const discrepancyId = new IdPipe('dscr', discrepancyNotFound);

@ApiTags('Provider discrepancies')
@Controller('v1/provider-discrepancies')
export class DiscrepanciesController {
  constructor(
    private readonly discrepancies: DiscrepanciesService,
    private readonly applying: ApplyDiscrepancyService,
  ) {}

  @Get()
  @Operation({
    summary: 'List provider discrepancies',
    description:
      'Reports of payment providers that contradict the final status of a payment or refund. Those with status `open` wait ' +
      'for somebody to apply or dismiss them.',
    access: 'payments:read',
    status: 200,
    answer: pageOf(DiscrepancyDto),
    reads: 'query',
    problems: [invalidCursor],
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
    status: 200,
    answer: DiscrepancyDto,
    reads: 'path',
    problems: [discrepancyNotFound],
  })
  async getProviderDiscrepancy(@Param('id', discrepancyId) id: string): Promise<DiscrepancyDto> {
    return toDiscrepancyDto(await this.discrepancies.get(id));
  }

  @Post(':id/apply')
  @NoFields()
  @Operation({
    summary: 'Apply a provider discrepancy',
    description:
      'Books what the provider reported: a payment or refund that failed has succeeded after all. A payment pays what its ' +
      'invoice still needs; the rest is credit of the customer. Applying it again changes nothing. Only a success after a ' +
      'failure can be applied.',
    access: 'payments:write',
    status: 200,
    answer: DiscrepancyDto,
    reads: 'post',
    key: 'optional',
    problems: [
      discrepancyNotFound,
      discrepancyNotApplicable,
      invalidTransition,
      refundAmountExceedsRefundable,
    ],
  })
  async applyProviderDiscrepancy(@Param('id', discrepancyId) id: string): Promise<DiscrepancyDto> {
    return toDiscrepancyDto(await this.applying.apply(id));
  }

  @Post(':id/dismiss')
  @NoFields()
  @Operation({
    summary: 'Dismiss a provider discrepancy',
    description:
      'Closes a discrepancy that was settled elsewhere, for example by a refund at the provider. The payment or refund stays ' +
      'as it is.',
    access: 'payments:write',
    status: 200,
    answer: DiscrepancyDto,
    reads: 'post',
    key: 'optional',
    problems: [discrepancyNotFound, invalidTransition],
  })
  async dismissProviderDiscrepancy(
    @Param('id', discrepancyId) id: string,
  ): Promise<DiscrepancyDto> {
    return toDiscrepancyDto(await this.discrepancies.dismiss(id));
  }
}
