import { Body, Controller, Get, Param, Patch, Post, Query } from '@nestjs/common';
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
import { CreateEntitlementDto, toFeatureTerms } from './dto/create-entitlement.dto';
import { EntitlementDto, toEntitlementDto } from './dto/entitlement.dto';
import { toFeatureChange, UpdateEntitlementDto } from './dto/update-entitlement.dto';
import {
  entitlementKeyTaken,
  entitlementNotFound,
  entitlementTermsContradict,
} from './features.errors';
import { FeaturesService } from './features.service';

const entitlementId = new IdPipe('ent', entitlementNotFound);

@ApiTags('Entitlements')
@Controller('v1/entitlements')
export class FeaturesController {
  constructor(private readonly features: FeaturesService) {}

  @Post()
  @Operation({
    summary: 'Create an entitlement',
    description: 'Only a metered one has a meter and thresholds.',
    access: 'entitlements:write',
    status: 201,
    answer: EntitlementDto,
    key: 'optional',
    problems: [
      entitlementTermsContradict,
      meterBackfilling,
      referenceNotFound,
      entitlementKeyTaken,
    ],
  })
  async createEntitlement(@Body() body: CreateEntitlementDto): Promise<EntitlementDto> {
    return withETag(await this.features.create(toFeatureTerms(body)), toEntitlementDto);
  }

  @Get()
  @Operation({
    summary: 'List entitlements',
    description: 'Newest first.',
    access: 'entitlements:read',
    answer: pageOf(EntitlementDto),
  })
  async listEntitlements(@Query() query: ListQueryDto): Promise<PageDto<EntitlementDto>> {
    return toPageDto(await this.features.list(toPageRequest(query, 'ent')), toEntitlementDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read an entitlement',
    description: 'Returns the definition, not what a customer has of it.',
    access: 'entitlements:read',
    answer: EntitlementDto,
    conditional: true,
    problems: [entitlementNotFound],
  })
  async getEntitlement(@Param('id', entitlementId) id: string): Promise<EntitlementDto> {
    return withETag(await this.features.get(id), toEntitlementDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update an entitlement',
    description:
      'Changes name, unit or thresholds, or merges the metadata. Omitted fields keep their values.',
    access: 'entitlements:write',
    answer: EntitlementDto,
    problems: [entitlementTermsContradict, entitlementNotFound, metadataTooLarge],
  })
  async updateEntitlement(
    @Param('id', entitlementId) id: string,
    @Body() body: UpdateEntitlementDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<EntitlementDto> {
    return withETag(
      await this.features.update(id, toFeatureChange(body), expected),
      toEntitlementDto,
    );
  }
}
