import { InstantProperty, mapperTo, TextProperty } from '../../../platform/http';

export class WebhookSecretDto {
  @TextProperty(
    'Secret to verify signatures with: `whsec_` followed by 32 bytes in base64. Keep it confidential.',
    'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  )
  readonly secret!: string;
}

export class RotatedWebhookSecretDto extends WebhookSecretDto {
  @InstantProperty('Instant until which deliveries are signed with the previous secret as well.')
  readonly previous_secret_expires_at!: string;
}

export const toRotatedWebhookSecretDto = mapperTo(RotatedWebhookSecretDto);
