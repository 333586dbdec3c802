import { ApiProperty } from '@nestjs/swagger';
import { InstantProperty, toWireInstant } from '../../../platform/http';

export class WebhookSecretDto {
  @ApiProperty({
    description: 'What to check signatures with: `whsec_` and 32 bytes in base64. Keep it secret.',
    example: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  })
  readonly secret!: string;
}

export class RotatedWebhookSecretDto extends WebhookSecretDto {
  @InstantProperty('Until then deliveries are signed with the previous secret as well.')
  readonly previous_secret_expires_at!: string;
}

export function toWebhookSecretDto(secret: string): WebhookSecretDto {
  return { secret };
}

export function toRotatedWebhookSecretDto(rotated: {
  readonly secret: string;
  readonly previousExpiresAt: Date;
}): RotatedWebhookSecretDto {
  return {
    secret: rotated.secret,
    previous_secret_expires_at: toWireInstant(rotated.previousExpiresAt),
  };
}
