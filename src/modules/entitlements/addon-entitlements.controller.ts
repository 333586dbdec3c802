import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import { metadataTooLarge, referenceNotFound } from '../../platform/errors';
import { IdPipe, IfMatch, Operation, withETag } from '../../platform/http';
import { AddonEntitlementsService } from './addon-entitlements.service';
import { AddonEntitlementDto, toAddonEntitlementDto } from './dto/addon-entitlement.dto';
import {
  CreateAddonEntitlementDto,
  toAddonEntitlementTerms,
} from './dto/create-addon-entitlement.dto';
import { ListAddonEntitlementsDto } from './dto/list-addon-entitlements.dto';
import {
  toAddonEntitlementChange,
  UpdateAddonEntitlementDto,
} from './dto/update-addon-entitlement.dto';
import {
  addonEntitlementExists,
  addonEntitlementNotFound,
  addonEntitlementValueContradicts,
  tooManyAddonEntitlements,
} from './entitlements.errors';

const linkId = new IdPipe('aent', addonEntitlementNotFound);

@ApiTags('Add-on entitlements')
@Controller('v1/addon-entitlements')
export class AddonEntitlementsController {
  constructor(private readonly links: AddonEntitlementsService) {}

  @Post()
  @Operation({
    summary: 'Link an add-on to an entitlement',
    description: 'Customers with the add-on have the entitlement.',
    access: 'entitlements:write',
    status: 201,
    answer: AddonEntitlementDto,
    key: 'optional',
    problems: [
      referenceNotFound,
      addonEntitlementValueContradicts,
      tooManyAddonEntitlements,
      addonEntitlementExists,
    ],
  })
  async createAddonEntitlement(
    @Body() body: CreateAddonEntitlementDto,
  ): Promise<AddonEntitlementDto> {
    return withETag(await this.links.create(toAddonEntitlementTerms(body)), toAddonEntitlementDto);
  }

  @Get()
  @Operation({
    summary: 'List the entitlements of an add-on',
    description:
      'Returns all links of one add-on as an array without pages, oldest first. An unknown add-on has none.',
    access: 'entitlements:read',
    answer: AddonEntitlementDto,
    isArray: true,
  })
  async listAddonEntitlements(
    @Query() query: ListAddonEntitlementsDto,
  ): Promise<readonly AddonEntitlementDto[]> {
    return (await this.links.listByAddon(query.addon_id)).map(toAddonEntitlementDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read the link of an add-on to an entitlement',
    description: 'Returns the value and the mode of one link.',
    access: 'entitlements:read',
    answer: AddonEntitlementDto,
    conditional: true,
    problems: [addonEntitlementNotFound],
  })
  async getAddonEntitlement(@Param('id', linkId) id: string): Promise<AddonEntitlementDto> {
    return withETag(await this.links.get(id), toAddonEntitlementDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update the link of an add-on to an entitlement',
    description:
      'Changes the mode or value, or merges the metadata. Omitted fields keep their values.',
    access: 'entitlements:write',
    answer: AddonEntitlementDto,
    problems: [addonEntitlementNotFound, addonEntitlementValueContradicts, metadataTooLarge],
  })
  async updateAddonEntitlement(
    @Param('id', linkId) id: string,
    @Body() body: UpdateAddonEntitlementDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<AddonEntitlementDto> {
    return withETag(
      await this.links.update(id, toAddonEntitlementChange(body), expected),
      toAddonEntitlementDto,
    );
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete the link of an add-on to an entitlement',
    description: 'Subscriptions with the add-on no longer get the entitlement from it.',
    access: 'entitlements:write',
    problems: [addonEntitlementNotFound],
  })
  async deleteAddonEntitlement(
    @Param('id', linkId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.links.delete(id, expected);
  }
}
