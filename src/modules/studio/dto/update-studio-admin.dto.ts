import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, Omittable } from '../../../platform/http';
import type { AdminChange } from '../domain/studio-admin';

export class UpdateStudioAdminDto {
  @Omittable()
  @IsText(1, 200)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: 200,
    description: 'For display only.',
    example: 'Ada Lovelace',
  })
  readonly name?: string;

  @Omittable()
  @IsText(1, 512)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: 512,
    writeOnly: true,
    description:
      'Hash of the new password, made by the client. Stored as sent and never returned. A different hash ends the ' +
      'sessions of the admin.',
    example: '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
  })
  readonly passwordHash?: string;
}

export function toAdminChange(dto: UpdateStudioAdminDto): AdminChange {
  return { name: dto.name, passwordHash: dto.passwordHash };
}
