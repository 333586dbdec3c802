import {
  BooleanProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import {
  type Enrolment,
  isEnabled,
  type IssuedRecoveryCodes,
  type SecondFactor,
} from '../domain/second-factor';

export class SecondFactorDto {
  @IdProperty('sf_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('The admin who has it.', 'admin_01h455vb4pex5vsknk084sn02q')
  readonly admin_id!: string;
  @BooleanProperty('True once it is confirmed: sign-ins with a password then need it.', true)
  readonly is_enabled!: boolean;
  @IntegerProperty('Recovery codes not used yet, of ten.', 10)
  readonly codes_left!: number;
  @InstantProperty('When it was confirmed.', { nullable: true })
  readonly enabled_at!: string | null;
  @InstantProperty('When the enrolment began.')
  readonly created_at!: string;
  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export class SecondFactorEnrolmentDto extends SecondFactorDto {
  @TextProperty(
    'Secret in base 32, to type into an authenticator app. It cannot be read again.',
    'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
  )
  readonly secret!: string;
  @TextProperty(
    'The secret as a URI, for a QR code.',
    'otpauth://totp/Billing%20engine%20(live):ada%40example.com?issuer=Billing%20engine%20(live)&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA1&digits=6&period=30',
  )
  readonly otpauth_uri!: string;
}

export class RecoveryCodesDto extends SecondFactorDto {
  @TextListProperty(
    'Each is accepted once in place of a code of the authenticator. Store them now: they cannot be read again.',
    ['3k7m-9xq2-w4tz-h8dv', '7d0r-c5nj-2be8-yq1s'],
  )
  readonly recovery_codes!: readonly string[];
}

export function toSecondFactorDto(factor: SecondFactor): SecondFactorDto {
  return toDto(SecondFactorDto, {
    ...factor,
    isEnabled: isEnabled(factor),
    codesLeft: factor.recoveryHashes.length,
  });
}

export function toEnrolmentDto({
  factor,
  secret,
  otpauthUri,
}: Enrolment): SecondFactorEnrolmentDto {
  return { ...toSecondFactorDto(factor), secret, otpauth_uri: otpauthUri };
}

export function toRecoveryCodesDto({
  factor,
  recoveryCodes,
}: IssuedRecoveryCodes): RecoveryCodesDto {
  return { ...toSecondFactorDto(factor), recovery_codes: recoveryCodes };
}
