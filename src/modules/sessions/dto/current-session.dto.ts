import { ApiProperty } from '@nestjs/swagger';
import {
  ADMIN_ROLES,
  type AdminRole,
  GRANTED_SCOPES,
  type GrantedScope,
  scopesOfAdmin,
} from '../../../core/access';
import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import { endsAt, type Session } from '../domain/session';

class SignedInAdminDto {
  @IdProperty('admin_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Email of the admin.', 'ada@example.com') readonly email!: string;
  @TextProperty('For display only.', 'Ada Lovelace') readonly name!: string;
  @EnumProperty(ADMIN_ROLES, 'Role of the admin.', 'owner') readonly role!: AdminRole;
}

export class CurrentSessionDto {
  @IdProperty('sess_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @ApiProperty({ type: SignedInAdminDto, description: 'The admin who is signed in.' })
  readonly admin!: SignedInAdminDto;
  @ApiProperty({
    enum: GRANTED_SCOPES,
    isArray: true,
    description: 'What the admin may do. `*` stands for all scopes.',
    example: ['*'],
  })
  readonly scopes!: readonly GrantedScope[];
  @BooleanProperty(
    'True if the admin must enrol a second factor: until then, nothing else is allowed.',
    false,
  )
  readonly must_enrol!: boolean;
  @TextProperty(
    'Send it as `X-CSRF-Token` with every request that is not a GET.',
    'q1Z0l4yq0c7hM3bW8rT5vX2nK6jF9sDgA1eUoYiPzQs',
  )
  readonly csrf_token!: string;
  @InstantProperty('When the admin signed in.') readonly created_at!: string;
  @InstantProperty('When the session ends if not used again.', {
    example: '2026-03-01T21:30:00.000Z',
  })
  readonly ends_at!: string;
  @InstantProperty('When the session ends at the latest.', { example: '2026-03-08T09:30:00.000Z' })
  readonly expires_at!: string;
}

interface Current {
  readonly session: Session;
  readonly admin: SignedInAdminDto;
  readonly mustEnrol: boolean;
}

export function toCurrentSessionDto(
  { session, admin, mustEnrol }: Current,
  csrfToken: string,
): CurrentSessionDto {
  return toDto(CurrentSessionDto, {
    ...session,
    admin: toDto(SignedInAdminDto, admin),
    scopes: scopesOfAdmin(admin.role, mustEnrol),
    mustEnrol,
    csrfToken,
    endsAt: endsAt(session),
  });
}
