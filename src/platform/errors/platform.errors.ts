import { defineProblem, type ProblemError, type ProblemItem } from './problem';

/** Returns the sentence for one invalid value. An empty pointer means the whole body. */
function sentenceOf({ pointer, message }: ProblemItem): string {
  return pointer === '' ? `The body ${message}.` : `${pointer}: ${message}`;
}

export const validationFailed = defineProblem({
  code: 'validation_failed',
  kind: 'malformed',
  title: 'The request does not match the schema',
  meaning:
    'A field is missing, unknown, of the wrong type or out of its bounds. `errors` lists up to 100 of them.',
  occurrence: (errors: readonly ProblemItem[]) => {
    const [first] = errors;
    const values = new Set(errors.map(({ pointer }) => pointer)).size;
    return {
      detail:
        errors.length === 1 && first !== undefined
          ? sentenceOf(first)
          : `${values === 1 ? 'A value in the request is' : `${values} values in the request are`} invalid. See errors.`,
      errors,
    };
  },
});

/** Error for a body whose `from` is not before its `to`. */
export const emptyPeriod = (): ProblemError =>
  validationFailed([{ pointer: '/from', code: 'contradiction', message: 'must be before `to`' }]);

export const malformedRequest = defineProblem({
  code: 'malformed_request',
  kind: 'malformed',
  title: 'The request cannot be read',
  meaning: 'The body is not JSON, or the path, a query parameter or a header is malformed.',
  occurrence: (detail: string) => ({ detail }),
});

export const invalidCursor = defineProblem({
  code: 'invalid_cursor',
  kind: 'malformed',
  title: 'The cursor does not belong to this list',
  meaning:
    'Pass `next_cursor` of the previous page unchanged, with the same filters and `sort`, or omit `cursor` to start with the first page.',
  detail: () => 'The cursor does not belong to this list. Omit it to start with the first page.',
});

export const routeNotFound = defineProblem({
  code: 'route_not_found',
  kind: 'not_found',
  title: 'Unknown route',
  meaning: 'The API has no such path. See `/docs`.',
  detail: (method: string, path: string) =>
    `There is no route ${method} ${path}. See /docs for the routes of the API.`,
});

export const hostNotLoopback = defineProblem({
  code: 'host_not_loopback',
  kind: 'forbidden',
  title: 'The Host header does not name this machine',
  meaning:
    'The service listens on loopback without API keys, so it answers only requests whose `Host` is `localhost`, `127.x.x.x` or `[::1]`: otherwise a web page could reach it through DNS rebinding. Use such an address; a proxy in front must send one.',
  detail: (host: string) =>
    `The Host header is ${JSON.stringify(host)}; the service answers only requests to localhost, 127.x.x.x or [::1].`,
});

export const crossSiteRequest = defineProblem({
  code: 'cross_site_request',
  kind: 'forbidden',
  title: 'The request comes from a web page of another site',
  meaning:
    'A service on loopback without API keys answers no requests that a browser sends for a page of another origin (`Sec-Fetch-Site`, `Origin`). Links to its pages can be followed. With a session cookie or basic authentication, requests must come from a page of the same origin, and changes with a cookie need the `csrf_token` of the session in `X-CSRF-Token`.',
  occurrence: (detail: string) => ({ detail }),
});

export const methodNotAllowed = defineProblem({
  code: 'method_not_allowed',
  kind: 'method_not_allowed',
  title: 'The route does not support this method',
  meaning:
    'The path exists, but not for this method. The `Allow` header lists the supported methods.',
  occurrence: (method: string, allow: readonly string[]) => ({
    detail: `${method} is not supported here. Use one of: ${allow.join(', ')}.`,
    allow,
  }),
});

export const referenceNotFound = defineProblem({
  code: 'reference_not_found',
  kind: 'rule_broken',
  title: 'The request refers to something that does not exist',
  meaning: 'A field of the body holds the id of a resource that does not exist or was deleted.',
  occurrence: (pointer: string, id: string) => ({
    detail: `${pointer} refers to ${JSON.stringify(id)}, which does not exist.`,
    errors: [{ pointer, code: 'reference_not_found', message: 'does not exist' }],
  }),
});

export const metadataTooLarge = defineProblem({
  code: 'metadata_too_large',
  kind: 'rule_broken',
  title: 'The merged metadata would be too large',
  meaning: 'Merged with the keys sent, metadata may hold at most 50 keys and 16 KiB.',
  detail: () =>
    'After the merge, the metadata would hold more than 50 keys or more than 16 KiB. Remove keys by sending null.',
});

export const invalidTransition = defineProblem({
  code: 'invalid_transition',
  kind: 'conflict',
  title: 'The state of the resource does not allow this',
  meaning:
    'The resource cannot change from its current state to the requested one. Nothing changed.',
  /** @param next sentence that says what to do instead */
  occurrence: (resource: string, from: string, to: string, next?: string) => ({
    detail: `The ${resource} is ${from} and cannot become ${to}.${next === undefined ? '' : ` ${next}`}`,
    extensions: { from, to },
  }),
});

export const preconditionFailed = defineProblem({
  code: 'precondition_failed',
  kind: 'precondition_failed',
  title: 'The resource has changed since it was read',
  meaning: 'The `If-Match` header does not hold the current `ETag`. Read the resource again.',
  detail: () =>
    'The resource no longer has the version named in If-Match. Read it again and repeat the change.',
});

export const payloadTooLarge = defineProblem({
  code: 'payload_too_large',
  kind: 'too_large',
  title: 'The body is too large',
  meaning:
    'A body may have up to 1 MiB; reported usage, up to 20 MiB, or as NDJSON up to 256 MiB with 100,000 lines of up to 1 MiB each. Beyond its first MiB, decompressed NDJSON may be at most a hundred times its compressed size.',
  occurrence: (detail: string) => ({ detail }),
});

export const requestHeadTooLarge = defineProblem({
  code: 'request_head_too_large',
  kind: 'head_too_large',
  title: 'The URL and the headers are too large',
  meaning:
    'The request line and the headers hold more than 16 KiB together. The connection is closed. Send a shorter query, or fewer or ' +
    'shorter headers.',
  detail: (max: number) => `The request line and the headers may hold ${max} bytes together.`,
});

export const expectationFailed = defineProblem({
  code: 'expectation_failed',
  kind: 'expectation_failed',
  title: 'The expectation cannot be met',
  meaning:
    'The header `Expect` is not `100-continue`. Nothing was done. Send the request without it.',
  detail: () => 'The Expect header may only be 100-continue. Send the request without it.',
});

export const requestTimeout = defineProblem({
  code: 'request_timeout',
  kind: 'timed_out',
  title: 'The body arrived too slowly',
  meaning:
    'No byte of an NDJSON body arrived for `NDJSON_IDLE_TIMEOUT_MS` (default 30 s), or the body took longer than this, at ' +
    'less than 500 bytes a second. Other bodies get 10 s, plus a second for each further 10 kB that arrived. Nothing was stored, ' +
    'and the connection is closed. Send the request again.',
  detail: (longestPauseMs: number) =>
    `Too little of the request arrived within ${longestPauseMs} ms. Nothing was stored. Send the request again.`,
});

export const unsupportedMediaType = defineProblem({
  code: 'unsupported_media_type',
  kind: 'unsupported_media_type',
  title: 'The type or encoding of the body is not supported',
  meaning:
    'Send the body as UTF-8 with `Content-Type: application/json`, or `application/x-ndjson` where the operation reads it; ' +
    'compressed with gzip or deflate, or not compressed.',
  occurrence: (detail: string, acceptedEncodings?: readonly string[]) => ({
    detail,
    acceptedEncodings,
  }),
});

export function unsupportedEncoding(encoding: string): ProblemError {
  const detail = `The content encoding ${JSON.stringify(encoding)} is not supported. Send the body compressed with gzip or deflate, or not compressed.`;
  return unsupportedMediaType(detail, ['gzip', 'deflate']);
}

export const idempotencyKeyReused = defineProblem({
  code: 'idempotency_key_reused',
  kind: 'conflict',
  title: 'The idempotency key was used for another request',
  meaning:
    'The same key was sent before with another path or body. Use a new key for a new request.',
  detail: () => 'This idempotency key was used before for another request. Send a new key.',
});

export const idempotencyKeyInUse = defineProblem({
  code: 'idempotency_key_in_use',
  kind: 'conflict',
  isTemporary: true,
  title: 'The first request with this key is still running',
  meaning:
    'Another request with the same key has not ended yet. Try again after `Retry-After`. `resource_id` is the id of the ' +
    'object that it creates, or of the test clock that it advances, which can be read meanwhile; null if nothing is ' +
    'committed yet.',
  occurrence: (retryAfterSeconds: number, resourceId: string | null) => ({
    detail:
      resourceId === null
        ? 'A request with this idempotency key is still running.'
        : `A request with this idempotency key is still running. Read ${resourceId} for its progress.`,
    extensions: { resource_id: resourceId },
    retryAfterSeconds,
  }),
});

export const idempotencyKeyMismatch = defineProblem({
  code: 'idempotency_key_mismatch',
  kind: 'malformed',
  title: 'Two different idempotency keys were sent',
  meaning:
    'The `Idempotency-Key` header and the field `idempotencyKey` differ. Send one, or both the same.',
  detail: () => 'The Idempotency-Key header and the body contain different keys. Send one key.',
});

export const idempotencyKeyRequired = defineProblem({
  code: 'idempotency_key_required',
  kind: 'malformed',
  title: 'The request needs an idempotency key',
  meaning:
    'The operation moves money or starts a contract, and `IDEMPOTENCY_KEYS` is `required`. Nothing was done. Send the ' +
    'request with an `Idempotency-Key` header, and repeat it with the same key if no answer arrives.',
  detail: () =>
    'Send this request with an Idempotency-Key header, so that it is not executed twice if you repeat it.',
});

export const outcomeUnknown = defineProblem({
  code: 'outcome_unknown',
  kind: 'unavailable',
  title: 'The outcome of the request is unknown',
  meaning:
    'The answer of the database to a commit was lost, or the database failed between two commits: the request was executed ' +
    'completely, in part or not at all. If the request has a key, repeat it unchanged: it is executed only once. The key is ' +
    'the `Idempotency-Key` header, `idempotencyKey` of a refund, or `idempotency_key` of a usage event or a consumption. For ' +
    'a request without a key, check for its effect before repeating it: it may be executed twice.',
  detail: () =>
    'The database failed during a commit or between two, so this request may have been executed, or a part of it. If it has ' +
    'a key (the Idempotency-Key header, idempotencyKey of a refund, idempotency_key of a usage event or a consumption), ' +
    'send it again unchanged: it is executed once. Otherwise check for its effect before repeating it.',
});

export const serviceUnavailable = defineProblem({
  code: 'service_unavailable',
  kind: 'unavailable',
  title: 'The service is temporarily unavailable',
  meaning:
    'The service is stopping, its clock is wrong, its database is unreachable, overloaded or read-only, or too many ' +
    'requests are in flight. Nothing was done. Try again after `Retry-After`.',
  occurrence: (detail: string) => ({ detail, retryAfterSeconds: 2 }),
});

export const tooManyReports = defineProblem({
  code: 'too_many_reports',
  kind: 'too_many_requests',
  title: 'Too many reports are running',
  meaning:
    'The number of verifications, simulations, proofs, analytics, reports of usage, summaries and printed invoices that run or wait is limited. Nothing was done. Try again after `Retry-After`.',
  occurrence: (kind: string) => ({
    detail: `This process allows no further report of the kind ${JSON.stringify(kind)} to run or wait. Try again in a few seconds.`,
    retryAfterSeconds: 5,
  }),
});

export const internalError = defineProblem({
  code: 'internal_error',
  kind: 'internal',
  title: 'The service failed',
  meaning: 'A defect of the service. The log entry has the same `request_id`.',
  detail: () =>
    'The service failed to answer this request. The error is logged under the request_id.',
});
