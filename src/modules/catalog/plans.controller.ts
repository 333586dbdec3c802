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
import {
  planCodeTaken,
  planEntitlementContradicts,
  planNotFound,
  priceTermsContradict,
} from './catalog.errors';
import {
  CreatePlanDto,
  CreatePlanVersionDto,
  toPlanTerms,
  toPlanVersionChange,
} from './dto/create-plan.dto';
import { PlanVersionDto, toPlanVersionDto } from './dto/plan-version.dto';
import { PlanDto, toPlanDto } from './dto/plan.dto';
import { toPlanChange, UpdatePlanDto } from './dto/update-plan.dto';
import { PlansService } from './plans.service';

const planId = new IdPipe('plan', planNotFound);

@ApiTags('Plans')
@Controller('v1/plans')
export class PlansController {
  constructor(private readonly plans: PlansService) {}

  @Post()
  @Operation({
    summary: 'Create a plan',
    description:
      'Creates the plan with its first version. Versions are immutable; a change is a new version.',
    access: 'catalog:write',
    status: 201,
    answer: PlanDto,
    key: 'optional',
    problems: [
      meterBackfilling,
      priceTermsContradict,
      planCodeTaken,
      referenceNotFound,
      planEntitlementContradicts,
    ],
  })
  async createPlan(@Body() body: CreatePlanDto): Promise<PlanDto> {
    return withETag(await this.plans.create(toPlanTerms(body)), toPlanDto);
  }

  @Get()
  @Operation({
    summary: 'List plans',
    description: 'Archived plans are not listed.',
    access: 'catalog:read',
    answer: pageOf(PlanDto),
  })
  async listPlans(@Query() query: ListQueryDto): Promise<PageDto<PlanDto>> {
    return toPageDto(await this.plans.list(toPageRequest(query, 'plan')), toPlanDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a plan',
    description: 'Returns the plan with the prices of its active version.',
    access: 'catalog:read',
    answer: PlanDto,
    conditional: true,
    problems: [planNotFound],
  })
  async getPlan(@Param('id', planId) id: string): Promise<PlanDto> {
    return withETag(await this.plans.get(id), toPlanDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a plan',
    description:
      'Changes the name, or merges the metadata. All other changes need a new version. An empty body changes nothing.',
    access: 'catalog:write',
    answer: PlanDto,
    problems: [planNotFound, metadataTooLarge],
  })
  async updatePlan(
    @Param('id', planId) id: string,
    @Body() body: UpdatePlanDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<PlanDto> {
    return withETag(await this.plans.update(id, toPlanChange(body), expected), toPlanDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Archive a plan',
    description:
      'The plan is no longer returned and cannot be subscribed to. Running subscriptions continue. Its code stays taken.',
    access: 'catalog:write',
    problems: [planNotFound],
  })
  async archivePlan(
    @Param('id', planId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.plans.archive(id, expected);
  }

  @Post(':id/versions')
  @Operation({
    summary: 'Create and activate a version of a plan',
    description:
      'New subscriptions use this version; running ones keep theirs until they are changed. Omitted fields, except ' +
      '`prices`, are copied from the previous version.',
    access: 'catalog:write',
    status: 201,
    answer: PlanVersionDto,
    key: 'optional',
    problems: [
      planNotFound,
      meterBackfilling,
      priceTermsContradict,
      referenceNotFound,
      planEntitlementContradicts,
    ],
  })
  async createPlanVersion(
    @Param('id', planId) id: string,
    @Body() body: CreatePlanVersionDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<PlanVersionDto> {
    const change = toPlanVersionChange(body);
    return toPlanVersionDto(await this.plans.activateVersion(id, change, expected));
  }

  @Get(':id/versions')
  @Operation({
    summary: 'List the versions of a plan',
    description: 'Newest first: the first version is the active one.',
    access: 'catalog:read',
    answer: pageOf(PlanVersionDto),
    problems: [planNotFound],
  })
  async listPlanVersions(
    @Param('id', planId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<PlanVersionDto>> {
    const page = await this.plans.listVersions(id, toPageRequest(query, 'planv'));
    return toPageDto(page, toPlanVersionDto);
  }
}
