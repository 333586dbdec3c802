import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import { metadataTooLarge, referenceNotFound } from '../../platform/errors';
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
import { meterBackfilling } from '../meters';
import { addonCodeTaken, addonNotFound, priceTermsContradict } from './catalog.errors';
import { CatalogService } from './catalog.service';
import { AddonDto, toAddonDto } from './dto/addon.dto';
import { CreateAddonDto, toAddonTerms } from './dto/create-addon.dto';
import { toAddonChange, UpdateAddonDto } from './dto/update-addon.dto';

const addonId = new IdPipe('addon', addonNotFound);

@ApiTags('Add-ons')
@Controller('v1/addons')
export class AddonsController {
  constructor(private readonly catalog: CatalogService) {}

  @Post()
  @Operation({
    summary: 'Create an add-on',
    description: 'Creates the add-on with its prices. Prices are immutable.',
    access: 'catalog:write',
    status: 201,
    answer: AddonDto,
    key: 'optional',
    problems: [meterBackfilling, priceTermsContradict, referenceNotFound, addonCodeTaken],
  })
  async createAddon(@Body() body: CreateAddonDto): Promise<AddonDto> {
    return withETag(await this.catalog.createAddon(toAddonTerms(body)), toAddonDto);
  }

  @Get()
  @Operation({
    summary: 'List add-ons',
    description: 'Archived add-ons are not listed.',
    access: 'catalog:read',
    answer: pageOf(AddonDto),
  })
  async listAddons(@Query() query: ListQueryDto): Promise<PageDto<AddonDto>> {
    return toPageDto(await this.catalog.listAddons(toPageRequest(query, 'addon')), toAddonDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read an add-on',
    description: 'Returns the add-on with its prices, unless it is archived.',
    access: 'catalog:read',
    answer: AddonDto,
    conditional: true,
    problems: [addonNotFound],
  })
  async getAddon(@Param('id', addonId) id: string): Promise<AddonDto> {
    return withETag(await this.catalog.getAddon(id), toAddonDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update an add-on',
    description: 'Changes the name, or merges the metadata. An empty body changes nothing.',
    access: 'catalog:write',
    answer: AddonDto,
    problems: [addonNotFound, metadataTooLarge],
  })
  async updateAddon(
    @Param('id', addonId) id: string,
    @Body() body: UpdateAddonDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<AddonDto> {
    return withETag(await this.catalog.updateAddon(id, toAddonChange(body), expected), toAddonDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Archive an add-on',
    description:
      'The add-on is no longer returned and cannot be sold again. Existing subscriptions keep it. Its code stays taken.',
    access: 'catalog:write',
    problems: [addonNotFound],
  })
  async archiveAddon(
    @Param('id', addonId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.catalog.archiveAddon(id, expected);
  }
}
