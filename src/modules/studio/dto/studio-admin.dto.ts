import { ADMIN_ROLES, type AdminRole } from '../../../core/access';
import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import { PASSWORD_SCHEMES, type PasswordScheme } from '../domain/password-hash';
import { schemeOf, type StudioAdmin } from '../domain/studio-admin';

export class StudioAdminDto {
  @IdProperty('admin_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('As sent; unique regardless of case.', 'ada@example.com') readonly email!: string;
  @TextProperty('For display only.', 'Ada Lovelace') readonly name!: string;
  @EnumProperty(ADMIN_ROLES, 'Role of the admin: which scopes it holds.', 'admin')
  readonly role!: AdminRole;
  @BooleanProperty('An inactive admin cannot sign in.', true) readonly is_active!: boolean;
  @EnumProperty(
    PASSWORD_SCHEMES,
    'Scheme of the password hash, derived from its form. `unrecognised`: it is stored, but no sign-in will accept it. `none`: the admin signs in with OpenID Connect only.',
    'argon2id',
  )
  readonly password_scheme!: PasswordScheme;
  @InstantProperty('When the password last changed; null if not recorded.', { nullable: true })
  readonly password_changed_at!: string | null;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

/** Returns the admin without the password hash. Copies only the fields of the DTO, so that the hash cannot leak. */
export function toStudioAdminDto(admin: StudioAdmin): StudioAdminDto {
  return toDto(StudioAdminDto, { ...admin, passwordScheme: schemeOf(admin) });
}
