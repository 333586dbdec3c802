import { Body, Controller, Delete, Get, Param, Patch, Query } from '@nestjs/common';
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
  withETagForChanges,
} from '../../platform/http';
import { MeterDto, toMeterDto } from './dto/meter.dto';
import { toMeterChange, UpdateMeterDto } from './dto/update-meter.dto';
import { meterNotFound } from './meters.errors';
import { MetersService } from './meters.service';

const meterId = new IdPipe('meter', meterNotFound);

@ApiTags('Meters')
@Controller('v1/meters')
export class MetersController {
  constructor(private readonly meters: MetersService) {}

  @Get()
  @Operation({
    summary: 'List meters',
    description: 'Returns meters that are not archived, newest first.',
    access: 'catalog:read',
    answer: pageOf(MeterDto),
  })
  async listMeters(@Query() query: ListQueryDto): Promise<PageDto<MeterDto>> {
    return toPageDto(await this.meters.list(toPageRequest(query, 'meter')), toMeterDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a meter',
    description: 'Also returns archived meters.',
    access: 'catalog:read',
    answer: MeterDto,
    problems: [meterNotFound],
  })
  async getMeter(@Param('id', meterId) id: string): Promise<MeterDto> {
    return withETagForChanges(await this.meters.get(id), toMeterDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a meter',
    description:
      'Changes the name or the policy for late events, or merges the metadata. Omitted fields keep their values.',
    access: 'catalog:write',
    answer: MeterDto,
    problems: [meterNotFound, metadataTooLarge],
  })
  async updateMeter(
    @Param('id', meterId) id: string,
    @Body() body: UpdateMeterDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<MeterDto> {
    return withETag(await this.meters.update(id, toMeterChange(body), expected), toMeterDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Archive a meter',
    description:
      'No new price or entitlement can refer to it. Existing references continue, and it can be read. Its key stays taken.',
    access: 'catalog:write',
    problems: [meterNotFound],
  })
  async archiveMeter(
    @Param('id', meterId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.meters.archive(id, expected);
  }
}
