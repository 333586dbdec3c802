import { ADMIN_ROLES, type AdminRole } from '../../../core/access';
import { EmailField, EnumField, TextField } from '../../../platform/http';
import type { AdminDetails } from '../domain/studio-admin';

const MAX_EMAIL_LENGTH = 254;
const ROLE_DESCRIPTION =
  'Role of the admin. `owner` may do everything; `admin` may not change admins, studio settings or API keys; `viewer` reads all but admins, API keys, audit log and metrics; `support` also changes customers and subscriptions, and refunds payments.';

export class CreateStudioAdminDto {
  @EmailField('Unique regardless of case, inactive admins included.', {
    max: MAX_EMAIL_LENGTH,
    example: 'ada@example.com',
  })
  readonly email!: string;
  @TextField('For display only.', { max: 200, example: 'Ada Lovelace' }) readonly name!: string;
  @TextField('Hash of the password, made by the client. Stored as sent and never returned.', {
    max: 512,
    writeOnly: true,
    example:
      '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21l$RdescudvJCsgt3ub+b+dWRWJTmaaJObGE2/+rK0NBwI',
  })
  readonly passwordHash!: string;
  @EnumField(ADMIN_ROLES, ROLE_DESCRIPTION, {
    optional: true,
    default: 'admin',
    example: 'admin',
  })
  readonly role?: AdminRole;
}

export function toAdminDetails(dto: CreateStudioAdminDto): AdminDetails {
  return {
    email: dto.email,
    name: dto.name,
    passwordHash: dto.passwordHash,
    role: dto.role ?? 'admin',
  };
}
