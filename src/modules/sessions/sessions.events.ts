import { defineEvent } from '../../platform/outbox';
import { SessionDto, toSessionDto } from './dto/session.dto';

export const sessionCreated = defineEvent({
  type: 'session.created',
  meaning: 'An admin signed in.',
  dto: SessionDto,
  toDto: toSessionDto,
});

export const sessionEnded = defineEvent({
  type: 'session.ended',
  meaning:
    'An admin signed out, or a session was revoked. Sessions that end by time, or with a new password or the deactivation of the admin, have no event of their own.',
  dto: SessionDto,
  toDto: toSessionDto,
  example: { is_active: false, ended_at: '2026-03-01T17:00:00.000Z' },
});
