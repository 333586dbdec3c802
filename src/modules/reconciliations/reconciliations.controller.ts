import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { paymentProviderNotEnabled } from '../payments';
import {
  ReconciliationDifferenceDto,
  toReconciliationDifferenceDto,
} from './dto/reconciliation-difference.dto';
import {
  CreateReconciliationDto,
  ReconciliationDto,
  toReconciliationDto,
  toReconciliationRequest,
} from './dto/reconciliation.dto';
import { reconciliationNotFound, reconciliationRunning } from './reconciliations.errors';
import { ReconciliationsService } from './reconciliations.service';

const reconciliationId = new IdPipe('rcon', reconciliationNotFound);

@ApiTags('Reconciliations')
@Controller('v1/reconciliations')
export class ReconciliationsController {
  constructor(private readonly reconciliations: ReconciliationsService) {}

  @Post()
  @Operation({
    summary: 'Compare a payment provider with the books',
    description:
      'Reads the charges and refunds that the provider made in `[from, to)`, and compares each with the books. Runs in the ' +
      'background: `GET /v1/reconciliations/{id}` shows the result. It also runs once a day.',
    access: 'payments:write',
    status: 201,
    answer: ReconciliationDto,
    key: 'optional',
    problems: [paymentProviderNotEnabled, reconciliationRunning],
  })
  async createReconciliation(@Body() body: CreateReconciliationDto): Promise<ReconciliationDto> {
    return toReconciliationDto(await this.reconciliations.start(toReconciliationRequest(body)));
  }

  @Get()
  @Operation({
    summary: 'List reconciliations',
    description: 'Newest first, running ones included.',
    access: 'payments:read',
    answer: pageOf(ReconciliationDto),
  })
  async listReconciliations(@Query() query: ListQueryDto): Promise<PageDto<ReconciliationDto>> {
    const page = await this.reconciliations.list(toPageRequest(query, 'rcon'));
    return toPageDto(page, toReconciliationDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a reconciliation',
    description: 'Returns its progress, and how many differences it found.',
    access: 'payments:read',
    answer: ReconciliationDto,
    problems: [reconciliationNotFound],
  })
  async getReconciliation(@Param('id', reconciliationId) id: string): Promise<ReconciliationDto> {
    return toReconciliationDto(await this.reconciliations.get(id));
  }

  @Get(':id/differences')
  @Operation({
    summary: 'List the differences of a reconciliation',
    description: 'Each charge or refund that the provider and the books show differently.',
    access: 'payments:read',
    answer: pageOf(ReconciliationDifferenceDto),
    problems: [reconciliationNotFound],
  })
  async listReconciliationDifferences(
    @Param('id', reconciliationId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<ReconciliationDifferenceDto>> {
    const page = await this.reconciliations.listDifferences(id, toPageRequest(query, 'rcdf'));
    return toPageDto(page, toReconciliationDifferenceDto);
  }
}
