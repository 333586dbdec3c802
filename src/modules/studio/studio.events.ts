import { defineEvents } from '../../platform/outbox';
import { StudioAdminDto, toStudioAdminDto } from './dto/studio-admin.dto';
import { StudioSettingsDto, toStudioSettingsDto } from './dto/studio-settings.dto';

const studioAdminEvent = defineEvents(StudioAdminDto, toStudioAdminDto);
const studioSettingsEvent = defineEvents(StudioSettingsDto, toStudioSettingsDto);

export const studioAdminCreated = studioAdminEvent(
  'studio_admin.created',
  'A studio admin was created.',
);

export const studioAdminUpdated = studioAdminEvent(
  'studio_admin.updated',
  'The name, the role or the password of a studio admin changed, or the admin was deactivated.',
);

export const studioSettingsUpdated = studioSettingsEvent(
  'studio_settings.updated',
  'The settings of the studio changed, such as how much support may refund.',
);
