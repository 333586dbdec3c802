import { TextField } from '../../../platform/http';
import type { AdminChange } from '../domain/studio-admin';

export class UpdateStudioAdminDto {
  @TextField('For display only.', { max: 200, optional: true, example: 'Ada Lovelace' })
  readonly name?: string;
  @TextField(
    'Hash of the new password, made by the client. Stored as sent and never returned. A different hash ends the ' +
      'sessions of the admin.',
    {
      max: 512,
      optional: true,
      writeOnly: true,
      example: '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
    },
  )
  readonly passwordHash?: string;
}

export function toAdminChange(dto: UpdateStudioAdminDto): AdminChange {
  return { name: dto.name, passwordHash: dto.passwordHash };
}
