import { defineProblem } from '../../platform/errors';

export const apiKeyNotFound = defineProblem(
  {
    code: 'api_key_not_found',
    kind: 'not_found',
    title: 'There is no such API key',
    meaning: 'The id in the path is not the id of an API key.',
  },
  (id: string) => ({ detail: `There is no API key ${JSON.stringify(id)}.` }),
);

export const apiKeyRevoked = defineProblem(
  {
    code: 'api_key_revoked',
    kind: 'conflict',
    title: 'The API key was revoked',
    meaning: 'A revoked API key cannot be changed or rolled. Create a new one.',
  },
  (id: string) => ({ detail: `The API key ${id} was revoked. Create a new one.` }),
);

export const apiKeyRolling = defineProblem(
  {
    code: 'api_key_rolling',
    kind: 'conflict',
    title: 'The secret before the last roll still works',
    meaning:
      'An API key has at most two secrets at once. Wait until `previous_expires_at`, or roll with `overlap_seconds: 0`, which ends all former secrets at once.',
  },
  (id: string, until: Date) => ({
    detail: `The secret of ${id} before its last roll works until ${until.toISOString()}. Wait, or roll with overlap_seconds: 0, which ends it at once.`,
  }),
);

export const expiryNotInFuture = defineProblem(
  {
    code: 'expiry_not_in_future',
    kind: 'rule_broken',
    title: 'The expiry is not in the future',
    meaning: '`expires_at` must be later than now. Revoke the API key to end it at once.',
  },
  (expiresAt: Date) => ({
    detail: `/expires_at is ${expiresAt.toISOString()}, which is not in the future.`,
    errors: [{ pointer: '/expires_at', code: 'not_in_future', message: 'must be in the future' }],
  }),
);

export const scopeNotHeldByCaller = defineProblem(
  {
    code: 'scope_not_held',
    kind: 'forbidden',
    title: 'The caller does not hold a scope of the API key',
    meaning:
      'A caller cannot hand out, or obtain the secret of, an API key with scopes that it does not hold itself. `required_scope` names the first one that is missing.',
  },
  (scope: string) => ({
    detail: `The API key has, or would have, the scope ${scope}, which your credential does not hold.`,
    extensions: { required_scope: scope },
  }),
);

export const customerTokenNotFound = defineProblem(
  {
    code: 'customer_token_not_found',
    kind: 'not_found',
    title: 'There is no such customer token',
    meaning:
      'The ids in the path are not those of a customer and one of its tokens; the token may have expired or been revoked.',
  },
  (id: string) => ({ detail: `The customer has no token ${JSON.stringify(id)}.` }),
);
