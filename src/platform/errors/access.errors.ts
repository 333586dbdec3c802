import { defineProblem } from './problem';

const CREDENTIAL_FAULTS = {
  missing: 'The request has no credential.',
  malformed:
    'The credential does not have the form of an API key or token; it may be cut off or mistyped.',
  unknown: 'The API key or token does not exist.',
  expired: 'The API key or token has expired.',
  revoked: 'The API key or token was revoked.',
  session_ended: 'The session has ended. Sign in again.',
} as const;

export const unauthenticated = defineProblem({
  code: 'unauthenticated',
  kind: 'unauthenticated',
  title: 'A valid credential is needed',
  meaning:
    'The service runs with `AUTH=required`, and the request has no valid API key or token. `reason` is `missing`, `malformed`, `unknown`, `expired`, `revoked` or `session_ended`. Send the key as `Authorization: Bearer <key>`, or as the user name of HTTP basic authentication.',
  occurrence: (reason: keyof typeof CREDENTIAL_FAULTS) => ({
    detail:
      reason === 'session_ended'
        ? CREDENTIAL_FAULTS[reason]
        : `${CREDENTIAL_FAULTS[reason]} Send a valid key as Authorization: Bearer <key>.`,
    extensions: { reason },
    authenticate:
      reason === 'missing'
        ? 'Bearer realm="billing"'
        : 'Bearer realm="billing", error="invalid_token"',
  }),
});

export const forbidden = defineProblem({
  code: 'forbidden',
  kind: 'forbidden',
  title: 'The credential does not allow this',
  meaning:
    'The API key, admin or token is valid, but lacks the scope named in `required_scope`. Nothing was done. Use a credential that has it. Where the studio requires a second factor, an admin without one must enrol one first.',
  occurrence: (scope: string, mustEnrol = false) => ({
    detail: mustEnrol
      ? `This needs the scope ${scope}, which you get when you have enrolled a second factor: POST /v1/second-factor.`
      : `This needs the scope ${scope}, which the credential does not have.`,
    extensions: { required_scope: scope },
  }),
});

export const scopeNotHeld = defineProblem({
  code: 'scope_not_held',
  kind: 'forbidden',
  title: 'The caller lacks a scope of the key, token or admin',
  meaning:
    'A caller cannot create or change an API key, customer token or admin that has a scope the caller lacks, nor get the secret of such a key or token. The scopes of an admin are those of its role. `required_scope` names the first one that is missing; `*` stands for all scopes.',
  occurrence: (scope: string) => ({
    detail: `Your credential lacks the scope ${scope}, so it cannot create, change or obtain a credential that has it.`,
    extensions: { required_scope: scope },
  }),
});

export const notForCustomerToken = defineProblem({
  code: 'not_for_customer_token',
  kind: 'forbidden',
  title: 'A customer token cannot do this',
  meaning:
    'A customer token reads the entitlements and the invoices of its own customer, and nothing else. A list of invoices needs `customer_id`. Use an API key for other requests.',
  detail: () =>
    'A customer token reads the entitlements and the invoices of its own customer only. Use an API key for this request.',
});

export const rateLimited = defineProblem({
  code: 'rate_limited',
  kind: 'too_many_requests',
  title: 'Too many requests in this minute',
  meaning:
    'The caller has used up its requests of this minute. `RateLimit-Policy` names the limit: `default` for a key, admin or token, `usage` for reported usage and consumption, and `address` for requests without a valid credential. Nothing was done. Try again after `Retry-After`.',
  occurrence: (policy: string, perMinute: number, retryAfterSeconds: number) => ({
    detail: `The limit ${JSON.stringify(policy)} allows ${perMinute} requests in a minute. Try again in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  }),
});
