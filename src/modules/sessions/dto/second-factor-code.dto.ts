import { validationFailed } from '../../../platform/errors';
import { PatternField, TextField } from '../../../platform/http';
import type { SecondFactorCode } from '../domain/second-factor';

/**
 * Field for a TOTP code. Allows a space in the middle, because authenticator apps show the code as two groups of
 * digits.
 */
export function TotpCodeField(options: { readonly optional?: true } = {}): PropertyDecorator {
  return PatternField(
    /^\d{3} ?\d{3}$/,
    'must be six digits',
    'Code of the authenticator app. Accepted once, up to 30 seconds before or after its time.',
    { ...options, writeOnly: true, example: '287082' },
  );
}

export function RecoveryCodeField(): PropertyDecorator {
  return TextField('A recovery code in place of `totp_code`. Each is accepted once.', {
    max: 100,
    optional: true,
    writeOnly: true,
    example: '3k7m-9xq2-w4tz-h8dv',
  });
}

export class TotpCodeDto {
  @TotpCodeField()
  readonly totp_code!: string;
}

export class SecondFactorCodeDto {
  @TotpCodeField({ optional: true })
  readonly totp_code?: string;
  @RecoveryCodeField()
  readonly recovery_code?: string;
}

export function toTotpCode({ totp_code: code }: TotpCodeDto): string {
  return code.replace(' ', '');
}

/** @throws {ProblemError} `validation_failed` if both a TOTP code and a recovery code were sent */
export function toSecondFactorCode(dto: SecondFactorCodeDto): SecondFactorCode {
  const { totp_code: totp, recovery_code: recoveryCode } = dto;
  if (totp !== undefined && recoveryCode !== undefined) {
    const message = 'must not be sent together with totp_code';
    throw validationFailed([{ pointer: '/recovery_code', code: 'contradiction', message }]);
  }
  if (totp !== undefined) return { totpCode: toTotpCode({ totp_code: totp }) };
  return recoveryCode === undefined ? null : { recoveryCode };
}
