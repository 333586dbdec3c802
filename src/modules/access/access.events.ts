import { defineEvent } from '../../platform/outbox';
import { ApiKeyDto, toApiKeyDto } from './dto/api-key.dto';
import { CustomerTokenDto, toCustomerTokenDto } from './dto/customer-token.dto';

export const apiKeyCreated = defineEvent({
  type: 'api_key.created',
  meaning: 'An API key was created. The event never contains the secret.',
  dto: ApiKeyDto,
  toDto: toApiKeyDto,
});

export const apiKeyUpdated = defineEvent({
  type: 'api_key.updated',
  meaning: 'The name, the scopes or the expiry of an API key changed.',
  dto: ApiKeyDto,
  toDto: toApiKeyDto,
});

export const apiKeyRolled = defineEvent({
  type: 'api_key.rolled',
  meaning:
    'An API key has a new secret. The former one works until `previous_expires_at`, or ended if that is null.',
  dto: ApiKeyDto,
  toDto: toApiKeyDto,
});

export const apiKeyRevokedEvent = defineEvent({
  type: 'api_key.revoked',
  meaning: 'An API key was revoked and no longer works.',
  dto: ApiKeyDto,
  toDto: toApiKeyDto,
});

export const customerTokenCreated = defineEvent({
  type: 'customer_token.created',
  meaning: 'A customer token was issued. The event never contains the token.',
  dto: CustomerTokenDto,
  toDto: toCustomerTokenDto,
});

export const customerTokenRevoked = defineEvent({
  type: 'customer_token.revoked',
  meaning: 'A customer token was revoked and no longer works.',
  dto: CustomerTokenDto,
  toDto: toCustomerTokenDto,
});
