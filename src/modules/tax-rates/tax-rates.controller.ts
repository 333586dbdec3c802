import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { VersionCondition } from '../../platform/database';
import { invalidCursor, metadataTooLarge } from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  tag,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { CreateTaxRateDto, toTaxRateTerms } from './dto/create-tax-rate.dto';
import { TaxRateDto, toTaxRateDto } from './dto/tax-rate.dto';
import { toTaxRateChange, UpdateTaxRateDto } from './dto/update-tax-rate.dto';
import { taxRateNotFound } from './tax-rates.errors';
import { TaxRatesService } from './tax-rates.service';

const taxRateId = new IdPipe('txr', taxRateNotFound);

@ApiTags('Tax rates')
@Controller('v1/tax-rates')
export class TaxRatesController {
  constructor(private readonly rates: TaxRatesService) {}

  @Post()
  @Operation({
    summary: 'Create a tax rate',
    description: 'Its percentage never changes; another percentage is another rate.',
    status: 201,
    answer: TaxRateDto,
    reads: 'post',
  })
  async createTaxRate(
    @Body() body: CreateTaxRateDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TaxRateDto> {
    const rate = await this.rates.create(toTaxRateTerms(body));
    tag(response, rate);
    return toTaxRateDto(rate);
  }

  @Get()
  @Operation({
    summary: 'List tax rates',
    description: 'Without those that were archived.',
    status: 200,
    answer: pageOf(TaxRateDto),
    reads: 'query',
    problems: [invalidCursor],
  })
  async listTaxRates(@Query() query: ListQueryDto): Promise<PageDto<TaxRateDto>> {
    return toPageDto(await this.rates.list(toPageRequest(query, 'txr')), toTaxRateDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a tax rate',
    status: 200,
    answer: TaxRateDto,
    reads: 'path',
    problems: [taxRateNotFound],
  })
  async getTaxRate(
    @Param('id', taxRateId) id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TaxRateDto> {
    const rate = await this.rates.get(id);
    tag(response, rate);
    return toTaxRateDto(rate);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a tax rate',
    description:
      'Switches it on or off, or merges its metadata. Inactive: no further customer is given it, those who have it keep ' +
      'it. Nothing sent changes nothing.',
    status: 200,
    answer: TaxRateDto,
    reads: 'change',
    problems: [taxRateNotFound, metadataTooLarge],
  })
  async updateTaxRate(
    @Param('id', taxRateId) id: string,
    @Body() body: UpdateTaxRateDto,
    @IfMatch() expected: VersionCondition,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TaxRateDto> {
    const rate = await this.rates.update(id, toTaxRateChange(body), expected);
    tag(response, rate);
    return toTaxRateDto(rate);
  }

  @Delete(':id')
  @Operation({
    summary: 'Archive a tax rate',
    description:
      'It is found no more and no further customer is given it; those who have it keep it.',
    status: 204,
    reads: 'removal',
    problems: [taxRateNotFound],
  })
  async archiveTaxRate(
    @Param('id', taxRateId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.rates.archive(id, expected);
  }
}
