import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { VersionCondition } from '../../platform/database';
import { invalidCursor, metadataTooLarge, referenceNotFound } from '../../platform/errors';
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
    description: 'With its prices, which never change.',
    status: 201,
    answer: AddonDto,
    reads: 'post',
    problems: [priceTermsContradict, referenceNotFound, addonCodeTaken],
  })
  async createAddon(
    @Body() body: CreateAddonDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AddonDto> {
    const addon = await this.catalog.createAddon(toAddonTerms(body));
    tag(response, addon);
    return toAddonDto(addon);
  }

  @Get()
  @Operation({
    summary: 'List add-ons',
    description: 'Without those that were archived.',
    status: 200,
    answer: pageOf(AddonDto),
    reads: 'query',
    problems: [invalidCursor],
  })
  async listAddons(@Query() query: ListQueryDto): Promise<PageDto<AddonDto>> {
    return toPageDto(await this.catalog.listAddons(toPageRequest(query, 'addon')), toAddonDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read an add-on',
    status: 200,
    answer: AddonDto,
    reads: 'path',
    problems: [addonNotFound],
  })
  async getAddon(
    @Param('id', addonId) id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AddonDto> {
    const addon = await this.catalog.getAddon(id);
    tag(response, addon);
    return toAddonDto(addon);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update an add-on',
    description: 'Renames it, or merges its metadata. Nothing sent changes nothing.',
    status: 200,
    answer: AddonDto,
    reads: 'change',
    problems: [addonNotFound, metadataTooLarge],
  })
  async updateAddon(
    @Param('id', addonId) id: string,
    @Body() body: UpdateAddonDto,
    @IfMatch() expected: VersionCondition,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AddonDto> {
    const addon = await this.catalog.updateAddon(id, toAddonChange(body), expected);
    tag(response, addon);
    return toAddonDto(addon);
  }

  @Delete(':id')
  @Operation({
    summary: 'Archive an add-on',
    description:
      'It is found no more and nothing new can refer to it; what refers to it goes on. Its code stays taken.',
    status: 204,
    reads: 'removal',
    problems: [addonNotFound],
  })
  async archiveAddon(
    @Param('id', addonId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.catalog.archiveAddon(id, expected);
  }
}
