import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import { metadataTooLarge } from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
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
    description: 'The percentage is immutable. For another percentage create another rate.',
    access: 'catalog:write',
    status: 201,
    answer: TaxRateDto,
    key: 'optional',
  })
  async createTaxRate(@Body() body: CreateTaxRateDto): Promise<TaxRateDto> {
    return withETag(await this.rates.create(toTaxRateTerms(body)), toTaxRateDto);
  }

  @Get()
  @Operation({
    summary: 'List tax rates',
    description: 'Archived rates are not listed.',
    access: 'catalog:read',
    answer: pageOf(TaxRateDto),
  })
  async listTaxRates(@Query() query: ListQueryDto): Promise<PageDto<TaxRateDto>> {
    return toPageDto(await this.rates.list(toPageRequest(query, 'txr')), toTaxRateDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a tax rate',
    description: 'Returns the tax rate, unless it is archived.',
    access: 'catalog:read',
    answer: TaxRateDto,
    conditional: true,
    problems: [taxRateNotFound],
  })
  async getTaxRate(@Param('id', taxRateId) id: string): Promise<TaxRateDto> {
    return withETag(await this.rates.get(id), toTaxRateDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a tax rate',
    description:
      'Activates or deactivates the rate, or merges its metadata. An inactive rate cannot be assigned to more customers; ' +
      'customers who have it keep it. An empty body changes nothing.',
    access: 'catalog:write',
    answer: TaxRateDto,
    problems: [taxRateNotFound, metadataTooLarge],
  })
  async updateTaxRate(
    @Param('id', taxRateId) id: string,
    @Body() body: UpdateTaxRateDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<TaxRateDto> {
    return withETag(await this.rates.update(id, toTaxRateChange(body), expected), toTaxRateDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Archive a tax rate',
    description:
      'The rate is no longer returned and cannot be assigned to more customers. Customers who have it keep it.',
    access: 'catalog:write',
    problems: [taxRateNotFound],
  })
  async archiveTaxRate(
    @Param('id', taxRateId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.rates.archive(id, expected);
  }
}
