import { defineEvents } from '../../platform/outbox';
import { ApiKeyDto, toApiKeyDto } from './dto/api-key.dto';
import { CustomerTokenDto, toCustomerTokenDto } from './dto/customer-token.dto';

const apiKeyEvent = defineEvents(ApiKeyDto, toApiKeyDto);
const customerTokenEvent = defineEvents(CustomerTokenDto, toCustomerTokenDto);

export const apiKeyCreated = apiKeyEvent(
  'api_key.created',
  'An API key was created. The event never contains the secret.',
);

export const apiKeyUpdated = apiKeyEvent(
  'api_key.updated',
  'The name, the scopes, the expiry or the rate limits of an API key changed.',
);

export const apiKeyRolled = apiKeyEvent(
  'api_key.rolled',
  'An API key has a new secret. The former one works until `previous_expires_at`; null: it ended at once.',
  { previous_expires_at: '2026-03-02T09:30:00.000Z' },
);

export const apiKeyRevokedEvent = apiKeyEvent(
  'api_key.revoked',
  'An API key was revoked and no longer works.',
  { revoked_at: '2026-03-01T09:30:00.000Z' },
);

export const customerTokenCreated = customerTokenEvent(
  'customer_token.created',
  'A customer token was issued. The event never contains the token.',
);

export const customerTokenRevoked = customerTokenEvent(
  'customer_token.revoked',
  'A customer token was revoked and no longer works.',
);
