import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../../platform/http';
import { ExpandsCustomers, withCustomer } from '../../customers';
import { disputeNotFound } from './disputes.errors';
import { DisputesService } from './disputes.service';
import { DisputeDto, ListDisputesDto, toDisputeDto, toDisputeFilter } from './dto/dispute.dto';

@ApiTags('Disputes')
@Controller('v1/disputes')
export class DisputesController {
  constructor(private readonly disputes: DisputesService) {}

  @Get()
  @ExpandsCustomers()
  @Operation({
    summary: 'List disputes',
    description:
      'Newest first. Those with status `inquiry` or `open` wait for an answer, which you send at the provider.',
    access: 'payments:read',
    answer: pageOf(withCustomer(DisputeDto)),
  })
  async listDisputes(@Query() query: ListDisputesDto): Promise<PageDto<DisputeDto>> {
    const request = toPageRequest(query, 'dsp');
    return toPageDto(await this.disputes.list(toDisputeFilter(query), request), toDisputeDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a dispute',
    description: 'Returns the dispute with its funds, as the provider last reported it.',
    access: 'payments:read',
    answer: DisputeDto,
    conditional: true,
    problems: [disputeNotFound],
  })
  async getDispute(
    @Param('id', new IdPipe('dsp', disputeNotFound)) id: string,
  ): Promise<DisputeDto> {
    return withETag(await this.disputes.get(id), toDisputeDto);
  }
}
