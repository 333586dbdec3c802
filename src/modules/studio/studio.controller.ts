import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import type { VersionCondition } from '../../platform/database';
import { scopeNotHeld } from '../../platform/errors';
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
import { CreateStudioAdminDto, toAdminDetails } from './dto/create-studio-admin.dto';
import { StudioAdminDto, toStudioAdminDto } from './dto/studio-admin.dto';
import { toAdminChange, UpdateStudioAdminDto } from './dto/update-studio-admin.dto';
import { lastOwner, studioAdminEmailTaken, studioAdminNotFound } from './studio.errors';
import { StudioService } from './studio.service';

const adminId = new IdPipe('admin', studioAdminNotFound);

@ApiTags('Studio')
@Controller('v1/studio')
export class StudioController {
  constructor(private readonly studio: StudioService) {}

  @Post()
  @Operation({
    summary: 'Create a studio admin',
    description:
      'The password is sent as a hash, stored as sent, and never returned. The caller must hold all scopes of the role.',
    access: 'studio:write',
    status: 201,
    answer: StudioAdminDto,
    key: 'optional',
    problems: [scopeNotHeld, studioAdminEmailTaken],
  })
  async createStudioAdmin(
    @Body() body: CreateStudioAdminDto,
    @Caller() caller: Principal,
  ): Promise<StudioAdminDto> {
    return withETag(await this.studio.create(toAdminDetails(body), caller), toStudioAdminDto);
  }

  @Get()
  @Operation({
    summary: 'List studio admins',
    description: 'Includes inactive admins.',
    access: 'studio:read',
    answer: pageOf(StudioAdminDto),
  })
  async listStudioAdmins(@Query() query: ListQueryDto): Promise<PageDto<StudioAdminDto>> {
    return toPageDto(await this.studio.list(toPageRequest(query, 'admin')), toStudioAdminDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a studio admin',
    description: 'Returns the admin without the password hash.',
    access: 'studio:read',
    answer: StudioAdminDto,
    conditional: true,
    problems: [studioAdminNotFound],
  })
  async getStudioAdmin(@Param('id', adminId) id: string): Promise<StudioAdminDto> {
    return withETag(await this.studio.get(id), toStudioAdminDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a studio admin',
    description:
      'Changes the name, the password or both. A new password ends the sessions of the admin. An empty body changes nothing. ' +
      'The caller must hold all scopes of the role of the admin.',
    access: 'studio:write',
    answer: StudioAdminDto,
    problems: [studioAdminNotFound, scopeNotHeld],
  })
  async updateStudioAdmin(
    @Param('id', adminId) id: string,
    @Body() body: UpdateStudioAdminDto,
    @IfMatch() expected: VersionCondition,
    @Caller() caller: Principal,
  ): Promise<StudioAdminDto> {
    const admin = await this.studio.update(id, toAdminChange(body), { expected, caller });
    return withETag(admin, toStudioAdminDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Deactivate a studio admin',
    description: 'The admin can no longer sign in, but stays readable with `is_active: false`.',
    access: 'studio:write',
    problems: [studioAdminNotFound, lastOwner],
  })
  async deleteStudioAdmin(
    @Param('id', adminId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.studio.deactivate(id, expected);
  }
}
