import { TextField } from '../../../platform/http';
import type { SignInCredentials } from '../sign-in.service';
import { RecoveryCodeField, toSecondFactorCode, TotpCodeField } from './second-factor-code.dto';

const MAX_EMAIL_LENGTH = 254;
const MAX_PASSWORD_LENGTH = 1_000;

export class CreateSessionDto {
  @TextField('Email of the admin, in any case.', {
    max: MAX_EMAIL_LENGTH,
    example: 'ada@example.com',
  })
  readonly email!: string;
  @TextField('Password of the admin. Never stored, logged or returned.', {
    max: MAX_PASSWORD_LENGTH,
    writeOnly: true,
    example: 'correct horse battery staple',
  })
  readonly password!: string;
  @TotpCodeField({ optional: true })
  readonly totp_code?: string;
  @RecoveryCodeField()
  readonly recovery_code?: string;
}

/** @throws {ProblemError} `validation_failed` if both a TOTP code and a recovery code were sent */
export function toCredentials(dto: CreateSessionDto): SignInCredentials {
  return { email: dto.email, password: dto.password, code: toSecondFactorCode(dto) };
}
