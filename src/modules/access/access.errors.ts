import { defineNotFound, defineProblem } from '../../platform/errors';

export const apiKeyNotFound = defineNotFound('api_key_not_found', 'an API key');

export const apiKeyRevoked = defineProblem({
  code: 'api_key_revoked',
  kind: 'conflict',
  title: 'The API key was revoked',
  meaning: 'A revoked API key cannot be changed or rolled. Create a new one.',
  detail: (id: string) => `The API key ${id} was revoked. Create a new one.`,
});

export const apiKeyRolling = defineProblem({
  code: 'api_key_rolling',
  kind: 'conflict',
  isTemporary: true,
  title: 'The previous secret still works',
  meaning:
    'An API key has at most two secrets at once. Wait until `previous_expires_at`, or roll with `overlap_seconds: 0`, which ends all former secrets at once.',
  detail: (id: string, until: Date) =>
    `The previous secret of ${id} works until ${until.toISOString()}. Wait, or roll with overlap_seconds: 0, which ends it at once.`,
});

export const expiryNotInFuture = defineProblem({
  code: 'expiry_not_in_future',
  kind: 'rule_broken',
  title: 'The expiry is not in the future',
  meaning: '`expires_at` must be later than now. Revoke the API key to end it at once.',
  occurrence: (expiresAt: Date) => ({
    detail: `/expires_at is ${expiresAt.toISOString()}, which is not in the future.`,
    errors: [{ pointer: '/expires_at', code: 'not_in_future', message: 'must be in the future' }],
  }),
});

export const limitAboveCeiling = defineProblem({
  code: 'limit_above_ceiling',
  kind: 'rule_broken',
  title: 'The rate limit is above the ceiling of the service',
  meaning:
    'An API key may have at most `limit` requests in a minute. The operator sets this ceiling with `RATE_LIMIT_KEY_CEILING` and `RATE_LIMIT_USAGE_KEY_CEILING`.',
  occurrence: (field: string, limit: number, ceiling: number) => ({
    detail: `/${field} is ${limit}, but the ceiling of this service is ${ceiling}.`,
    errors: [
      {
        pointer: `/${field}`,
        code: 'above_ceiling',
        message: `must not be greater than ${ceiling}`,
      },
    ],
    extensions: { limit: ceiling },
  }),
});

export const customerTokenNotFound = defineProblem({
  code: 'customer_token_not_found',
  kind: 'not_found',
  title: 'There is no such customer token',
  meaning:
    'The ids in the path are not those of a customer and one of its tokens; the token may have expired or been revoked.',
  detail: (id: string) => `The customer has no token ${JSON.stringify(id)}.`,
});
