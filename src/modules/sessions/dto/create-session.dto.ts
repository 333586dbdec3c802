import { TextField } from '../../../platform/http';
import type { SignInCredentials } from '../sign-in.service';
import { RecoveryCodeField, toSecondFactorCode, TotpCodeField } from './second-factor-code.dto';

const LONGEST_EMAIL = 254;
const LONGEST_PASSWORD = 1_000;

export class CreateSessionDto {
  @TextField('Email of the admin, in any case.', {
    max: LONGEST_EMAIL,
    example: 'ada@example.com',
  })
  readonly email!: string;
  @TextField('Password whose hash the admin has. Never stored, logged or returned.', {
    max: LONGEST_PASSWORD,
    writeOnly: true,
    example: 'correct horse battery staple',
  })
  readonly password!: string;
  @TotpCodeField({ optional: true })
  readonly totp_code?: string;
  @RecoveryCodeField()
  readonly recovery_code?: string;
}

/** @throws {ProblemError} `validation_failed` for two codes */
export function toCredentials(dto: CreateSessionDto): SignInCredentials {
  return { email: dto.email, password: dto.password, code: toSecondFactorCode(dto) };
}
