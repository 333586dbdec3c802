import { ApiProperty } from '@nestjs/swagger';
import { ALL_SCOPES, type GrantedScope } from '../../../core/access';
import { IdProperty, InstantProperty, toWireInstant } from '../../../platform/http';
import type { ApiKey } from '../domain/api-key';

export const GRANTED_SCOPES: readonly GrantedScope[] = ['*', ...ALL_SCOPES];

export class ApiKeyDto {
  @IdProperty('key_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'For display only.', example: 'Checkout servers' })
  readonly name!: string;

  @ApiProperty({
    enum: GRANTED_SCOPES,
    isArray: true,
    description: 'What the key may be used for. `*` stands for all scopes.',
    example: ['usage:write', 'entitlements:read'],
  })
  readonly scopes!: readonly GrantedScope[];

  @ApiProperty({ description: 'First characters of the secret.', example: 'sk_live_' })
  readonly prefix!: string;

  @ApiProperty({ description: 'Last four characters of the secret.', example: '4Xw2' })
  readonly last_four!: string;

  @InstantProperty('When the key stops working; null: never.', { nullable: true })
  readonly expires_at!: string | null;

  @InstantProperty('Until when the secret before the last roll works, if it was rolled.', {
    nullable: true,
  })
  readonly previous_expires_at!: string | null;

  @InstantProperty('When the key was revoked.', { nullable: true })
  readonly revoked_at!: string | null;

  @InstantProperty('When the key was last used, to within a minute.', { nullable: true })
  readonly last_used_at!: string | null;

  @ApiProperty({
    description:
      'Who created the key: the id of an API key or an admin, `open` without a credential, `command_line` or `bootstrap`.',
    example: 'key_01h455vb4pex5vsknk084sn02q',
  })
  readonly created_by!: string;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

/** An API key with its secret, which is in this answer only. */
export class ApiKeyWithSecretDto extends ApiKeyDto {
  @ApiProperty({
    description: 'Store it now: it cannot be read again.',
    example: 'sk_live_3vYqBkDaTn7wLxRz5cJmHf9gUoWp2sE8iXyA1bQdKtM4NrVu0GjZh6C',
  })
  readonly secret!: string;
}

export function toApiKeyDto(key: ApiKey): ApiKeyDto {
  return {
    id: key.id,
    name: key.name,
    scopes: key.scopes,
    prefix: key.prefix,
    last_four: key.lastFour,
    expires_at: toWireInstant(key.expiresAt),
    previous_expires_at: toWireInstant(key.previousExpiresAt),
    revoked_at: toWireInstant(key.revokedAt),
    last_used_at: toWireInstant(key.lastUsedAt),
    created_by: key.createdBy,
    created_at: toWireInstant(key.createdAt),
    updated_at: toWireInstant(key.updatedAt),
  };
}

export function toApiKeyWithSecretDto({
  key,
  secret,
}: {
  readonly key: ApiKey;
  readonly secret: string;
}): ApiKeyWithSecretDto {
  return { ...toApiKeyDto(key), secret };
}
