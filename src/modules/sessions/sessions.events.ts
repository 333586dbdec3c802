import { defineEvents } from '../../platform/outbox';
import { SecondFactorDto, toSecondFactorDto } from './dto/second-factor.dto';
import { SessionDto, toSessionDto } from './dto/session.dto';

const sessionEvent = defineEvents(SessionDto, toSessionDto);
const secondFactorEvent = defineEvents(SecondFactorDto, toSecondFactorDto);

export const sessionCreated = sessionEvent('session.created', 'An admin signed in.');

export const sessionEnded = sessionEvent(
  'session.ended',
  'An admin signed out, or a session was revoked. Not sent when a session expires, or ends because the password or second factor changed or the admin was deactivated.',
  { is_active: false, ended_at: '2026-03-01T17:00:00.000Z' },
);

export const secondFactorEnabledEvent = secondFactorEvent(
  'second_factor.enabled',
  'An admin confirmed a second factor. Sign-ins with a password need it from now on.',
);

export const secondFactorUpdatedEvent = secondFactorEvent(
  'second_factor.updated',
  'An admin used a recovery code, or replaced the recovery codes.',
  { codes_left: 9 },
);

export const secondFactorDisabledEvent = secondFactorEvent(
  'second_factor.disabled',
  'The second factor of an admin was removed, by the admin or by an owner.',
  { is_enabled: false, codes_left: 0, enabled_at: null },
);
