import { defineEvent } from '../../platform/outbox';
import { StudioAdminDto, toStudioAdminDto } from './dto/studio-admin.dto';

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
