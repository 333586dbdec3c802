import { ApiProperty } from '@nestjs/swagger';
import { GRANTED_SCOPES, type GrantedScope } from '../../../core/access';
import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import type { ApiKey } from '../domain/api-key';

export class ApiKeyDto {
  @IdProperty('key_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('For display only.', 'Checkout servers') readonly name!: string;
  @ApiProperty({
    enum: GRANTED_SCOPES,
    isArray: true,
    description: 'What the key may be used for. `*` stands for all scopes.',
    example: ['usage:write', 'entitlements:read'],
  })
  readonly scopes!: readonly GrantedScope[];
  @TextProperty('First characters of the secret.', 'sk_live_') readonly prefix!: string;
  @TextProperty('Last four characters of the secret.', '4Xw2') readonly last_four!: string;
  @InstantProperty('When the key stops working; null: never.', { nullable: true, example: null })
  readonly expires_at!: string | null;
  @InstantProperty('When the previous secret stops working; null if there is none.', {
    nullable: true,
    example: null,
  })
  readonly previous_expires_at!: string | null;
  @InstantProperty('When the key was revoked.', { nullable: true, example: null })
  readonly revoked_at!: string | null;
  @InstantProperty('When the key was last used, to within a minute.', {
    nullable: true,
    example: null,
  })
  readonly last_used_at!: string | null;
  @IntegerProperty(
    'Requests in a minute; null: `RATE_LIMIT_PER_MINUTE` of the service. Reported usage and consumption do not count.',
    null,
    { nullable: true },
  )
  readonly requests_per_minute!: number | null;
  @IntegerProperty(
    'Requests in a minute that report or consume usage; null: `RATE_LIMIT_USAGE_PER_MINUTE` of the service.',
    null,
    { nullable: true },
  )
  readonly usage_requests_per_minute!: number | null;
  @TextProperty(
    'Who created the key: the id of an API key or an admin, `open` without a credential, `command:` and the name of a command, or `bootstrap`. Keys of earlier versions have `command_line`.',
    'key_01h455vb4pex5vsknk084sn02q',
  )
  readonly created_by!: string;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export class ApiKeyWithSecretDto extends ApiKeyDto {
  @TextProperty(
    'Store it now: it cannot be read again.',
    'sk_live_3vYqBkDaTn7wLxRz5cJmHf9gUoWp2sE8iXyA1bQdKtM4NrVu0GjZh6C',
  )
  readonly secret!: string;
}

export const toApiKeyDto = mapperTo(ApiKeyDto);

export function toApiKeyWithSecretDto(key: ApiKey, secret: string): ApiKeyWithSecretDto {
  return { ...toApiKeyDto(key), secret };
}
