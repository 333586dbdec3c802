import { ApiProperty } from '@nestjs/swagger';
import { ArrayMinSize, IsArray, IsIn } from 'class-validator';
import {
  HasNoRepeats,
  IdProperty,
  InstantProperty,
  Field,
  IntegerField,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import {
  CUSTOMER_SCOPES,
  type CustomerScope,
  type CustomerToken,
  type CustomerTokenTerms,
} from '../domain/customer-token';

const MIN_LIFETIME_SECONDS = 60;
const MAX_LIFETIME_SECONDS = 86_400;
const DEFAULT_LIFETIME_SECONDS = 3_600;

export class CreateCustomerTokenDto {
  @Field(
    { enum: [...CUSTOMER_SCOPES], isArray: true, minItems: 1, uniqueItems: true },
    [
      IsArray(),
      ArrayMinSize(1),
      HasNoRepeats(),
      IsIn(CUSTOMER_SCOPES, { each: true, message: `must be ${CUSTOMER_SCOPES.join(' or ')}` }),
    ],
    'What the token may be used for. Default: both.',
    { optional: true, example: ['entitlements:read'] },
  )
  readonly scopes?: readonly CustomerScope[];
  @IntegerField('How long the token works.', {
    min: MIN_LIFETIME_SECONDS,
    max: MAX_LIFETIME_SECONDS,
    optional: true,
    default: DEFAULT_LIFETIME_SECONDS,
    example: 900,
  })
  readonly expires_in_seconds?: number;
}

export class CustomerTokenDto {
  @IdProperty('ctok_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @ApiProperty({
    enum: CUSTOMER_SCOPES,
    isArray: true,
    description: 'What the token may be used for.',
    example: ['entitlements:read'],
  })
  readonly scopes!: readonly CustomerScope[];
  @InstantProperty('When the token stops working.', { example: '2026-03-01T10:30:00.000Z' })
  readonly expires_at!: string;
  @TextProperty(
    'Who issued the token: the id of an API key or an admin, or `open`.',
    'key_01h455vb4pex5vsknk084sn02q',
  )
  readonly created_by!: string;
  @InstantProperty('When it was issued.') readonly created_at!: string;
}

export class CustomerTokenWithSecretDto extends CustomerTokenDto {
  @TextProperty(
    'Sent as `Authorization: Bearer <token>`. It cannot be read again.',
    'ct_live_3vYqBkDaTn7wLxRz5cJmHf9gUoWp2sE8iXyA1bQdKtM4NrVu0',
  )
  readonly token!: string;
}

export function toCustomerTokenTerms(dto: CreateCustomerTokenDto): CustomerTokenTerms {
  return {
    scopes: dto.scopes ?? CUSTOMER_SCOPES,
    lifetimeMs: (dto.expires_in_seconds ?? DEFAULT_LIFETIME_SECONDS) * 1_000,
  };
}

export const toCustomerTokenDto = mapperTo(CustomerTokenDto);

export function toCustomerTokenWithSecretDto(
  token: CustomerToken,
  secret: string,
): CustomerTokenWithSecretDto {
  return { ...toCustomerTokenDto(token), token: secret };
}
