import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsEmail, IsIn } from 'class-validator';
import { IsText, Omittable } from '../../../platform/http';
import { ADMIN_ROLES, type AdminDetails, type AdminRole } from '../domain/studio-admin';

const LONGEST_EMAIL = 254;

export class CreateStudioAdminDto {
  @IsText(3, LONGEST_EMAIL)
  @IsEmail({}, { message: 'must be an email address' })
  @ApiProperty({
    format: 'email',
    maxLength: LONGEST_EMAIL,
    description: 'Unique regardless of case, inactive admins included.',
    example: 'ada@example.com',
  })
  readonly email!: string;

  @IsText(1, 200)
  @ApiProperty({
    minLength: 1,
    maxLength: 200,
    description: 'For display only.',
    example: 'Ada Lovelace',
  })
  readonly name!: string;

  @IsText(1, 512)
  @ApiProperty({
    minLength: 1,
    maxLength: 512,
    writeOnly: true,
    description: 'Hash of the password, made by the client. Stored as sent and never returned.',
    example:
      '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21l$RdescudvJCsgt3ub+b+dWRWJTmaaJObGE2/+rK0NBwI',
  })
  readonly passwordHash!: string;

  @Omittable()
  @IsIn(ADMIN_ROLES)
  @ApiPropertyOptional({
    enum: ADMIN_ROLES,
    default: 'admin',
    description: 'Role of the admin.',
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
