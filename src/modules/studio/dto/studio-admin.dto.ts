import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireInstant } from '../../../platform/http';
import { PASSWORD_SCHEMES, type PasswordScheme } from '../domain/password-scheme';
import { ADMIN_ROLES, type AdminRole, schemeOf, type StudioAdmin } from '../domain/studio-admin';

export class StudioAdminDto {
  @IdProperty('admin_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({
    description: 'As sent; unique regardless of case.',
    example: 'ada@example.com',
  })
  readonly email!: string;

  @ApiProperty({ description: 'For display only.', example: 'Ada Lovelace' })
  readonly name!: string;

  @ApiProperty({ enum: ADMIN_ROLES, description: 'Role of the admin.', example: 'admin' })
  readonly role!: AdminRole;

  @ApiProperty({ description: 'An inactive admin cannot sign in.', example: true })
  readonly is_active!: boolean;

  @ApiProperty({
    enum: PASSWORD_SCHEMES,
    description:
      'Scheme of the password hash, derived from its form. `unrecognised`: it is stored, but no sign-in will accept it.',
    example: 'argon2id',
  })
  readonly password_scheme!: PasswordScheme;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

/** Copies field by field, so that the password hash cannot leak. */
export function toStudioAdminDto(admin: StudioAdmin): StudioAdminDto {
  return {
    id: admin.id,
    email: admin.email,
    name: admin.name,
    role: admin.role,
    is_active: admin.isActive,
    password_scheme: schemeOf(admin),
    created_at: toWireInstant(admin.createdAt),
    updated_at: toWireInstant(admin.updatedAt),
  };
}
