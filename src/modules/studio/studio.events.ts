import { defineEvent } from '../../platform/outbox';
import { StudioAdminDto, toStudioAdminDto } from './dto/studio-admin.dto';
import { StudioSettingsDto, toStudioSettingsDto } from './dto/studio-settings.dto';

export const studioAdminCreated = defineEvent({
  type: 'studio_admin.created',
  meaning: 'A studio admin was created.',
  dto: StudioAdminDto,
  toDto: toStudioAdminDto,
});

export const studioAdminUpdated = defineEvent({
  type: 'studio_admin.updated',
  meaning:
    'The name or the password of a studio admin changed, or the admin was deactivated. When only the password changed, `previous` may be empty.',
  dto: StudioAdminDto,
  toDto: toStudioAdminDto,
});

export const studioSettingsUpdated = defineEvent({
  type: 'studio_settings.updated',
  meaning: 'The settings of the studio changed, such as how much support may refund.',
  dto: StudioSettingsDto,
  toDto: toStudioSettingsDto,
});
