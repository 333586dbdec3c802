import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import type { VersionCondition } from '../../platform/database';
import { scopeNotHeld } from '../../platform/errors';
import { IfMatch, Operation, withETag } from '../../platform/http';
import {
  StudioSettingsDto,
  toSettingsChange,
  toStudioSettingsDto,
  UpdateStudioSettingsDto,
} from './dto/studio-settings.dto';
import { StudioSettingsService } from './studio-settings.service';

@ApiTags('Studio')
@Controller('v1/studio-settings')
export class StudioSettingsController {
  constructor(private readonly settings: StudioSettingsService) {}

  @Get()
  @Operation({
    summary: 'Read the studio settings',
    description: 'Returns the refund limits of support, and whether a second factor is required.',
    access: 'studio:read',
    answer: StudioSettingsDto,
    conditional: true,
  })
  async getStudioSettings(): Promise<StudioSettingsDto> {
    return withETag(await this.settings.get(), toStudioSettingsDto);
  }

  @Patch()
  @Operation({
    summary: 'Update the studio settings',
    description:
      'Replaces the refund limits of support, or sets whether admins who sign in with a password need a second factor. Omitted ' +
      'fields stay. Takes effect at once, in every process. Changing refund limits also needs `refunds:write`. No longer ' +
      'requiring a second factor needs all scopes (`*`).',
    access: 'studio:write',
    answer: StudioSettingsDto,
    problems: [scopeNotHeld],
  })
  async updateStudioSettings(
    @Body() body: UpdateStudioSettingsDto,
    @IfMatch() expected: VersionCondition,
    @Caller() caller: Principal,
  ): Promise<StudioSettingsDto> {
    const settings = await this.settings.update(toSettingsChange(body), { expected, caller });
    return withETag(settings, toStudioSettingsDto);
  }
}
