import { defineProblem, type ProblemItem } from './problem';

/** An empty pointer is the whole body. */
function sentenceOf({ pointer, message }: ProblemItem): string {
  return pointer === '' ? `The body ${message}.` : `${pointer}: ${message}`;
}

export const validationFailed = defineProblem(
  {
    code: 'validation_failed',
    kind: 'malformed',
    title: 'The request does not fit the schema',
    meaning:
      'A field is missing, unknown, of the wrong type or out of its bounds. `errors` lists the places, at most 100.',
  },
  (errors: readonly ProblemItem[]) => {
    const [first] = errors;
    return {
      detail:
        errors.length === 1 && first !== undefined
          ? sentenceOf(first)
          : `${errors.length} places in the request are wrong; see errors.`,
      errors,
    };
  },
);

export const malformedRequest = defineProblem(
  {
    code: 'malformed_request',
    kind: 'malformed',
    title: 'The request cannot be read',
    meaning: 'The body is not JSON, or the path, a query parameter or a header is not well formed.',
  },
  (detail: string) => ({ detail }),
);

export const invalidCursor = defineProblem(
  {
    code: 'invalid_cursor',
    kind: 'malformed',
    title: 'The cursor is not one of this list',
    meaning:
      'Pass `next_cursor` of the page before unchanged, or leave `cursor` out to start again.',
  },
  () => ({ detail: 'The cursor was not made by this list.' }),
);

export const routeNotFound = defineProblem(
  {
    code: 'route_not_found',
    kind: 'not_found',
    title: 'There is no such route',
    meaning: 'The path is not one of the API. See `/docs`.',
  },
  (method: string, path: string) => ({ detail: `There is no route ${method} ${path}.` }),
);

export const methodNotAllowed = defineProblem(
  {
    code: 'method_not_allowed',
    kind: 'method_not_allowed',
    title: 'The route does not answer to this method',
    meaning:
      'The path exists, but not for this method. The `Allow` header lists those it answers to.',
  },
  (method: string, allow: readonly string[]) => ({
    detail: `${method} is not allowed here; allowed: ${allow.join(', ')}.`,
    allow,
  }),
);

export const referenceNotFound = defineProblem(
  {
    code: 'reference_not_found',
    kind: 'rule_broken',
    title: 'The request refers to something that does not exist',
    meaning: 'A field of the body holds the id of a resource that does not exist or was deleted.',
  },
  (pointer: string, id: string) => ({
    detail: `${pointer} refers to ${JSON.stringify(id)}, which does not exist.`,
    errors: [{ pointer, code: 'reference_not_found', message: 'does not exist' }],
  }),
);

export const metadataTooLarge = defineProblem(
  {
    code: 'metadata_too_large',
    kind: 'rule_broken',
    title: 'The merged metadata would be too large',
    meaning: 'Metadata holds at most 50 keys and 16 KiB after the keys sent are merged in.',
  },
  () => ({ detail: 'The metadata would hold more than 50 keys or more than 16 KiB.' }),
);

export const invalidTransition = defineProblem(
  {
    code: 'invalid_transition',
    kind: 'conflict',
    title: 'The state of the resource does not allow this',
    meaning:
      'The resource is in a state from which the wanted one cannot be reached. Nothing changed.',
  },
  (resource: string, from: string, to: string) => ({
    detail: `A ${resource} that is ${from} cannot become ${to}.`,
    extensions: { from, to },
  }),
);

export const preconditionFailed = defineProblem(
  {
    code: 'precondition_failed',
    kind: 'precondition_failed',
    title: 'The resource changed since it was read',
    meaning: 'The `If-Match` header does not hold the current `ETag`. Read the resource again.',
  },
  () => ({ detail: 'The resource no longer has the version named in If-Match.' }),
);

export const payloadTooLarge = defineProblem(
  {
    code: 'payload_too_large',
    kind: 'too_large',
    title: 'The body is too large',
    meaning:
      'A body may hold 1 MiB; one that reports usage 20 MiB, or as NDJSON 100,000 lines of 1 MiB each at most.',
  },
  (detail: string) => ({ detail }),
);

export const requestTimeout = defineProblem(
  {
    code: 'request_timeout',
    kind: 'timed_out',
    title: 'The body stopped coming, or came too slowly',
    meaning:
      'The client began to send NDJSON and then sent nothing for `NDJSON_IDLE_TIMEOUT_MS`, 30 s if not set, or took longer ' +
      'than that and sent less than 500 bytes a second. Nothing was stored, and the connection is closed. Send the request ' +
      'again.',
  },
  (longestPauseMs: number) => ({
    detail: `For ${longestPauseMs} ms nothing of the body came, or too little. Nothing was stored.`,
  }),
);

export const unsupportedMediaType = defineProblem(
  {
    code: 'unsupported_media_type',
    kind: 'unsupported_media_type',
    title: 'The body is not JSON',
    meaning:
      'Send the body as UTF-8 with `Content-Type: application/json`, or `application/x-ndjson` where the operation reads it.',
  },
  (detail: string) => ({ detail }),
);

export const idempotencyKeyReused = defineProblem(
  {
    code: 'idempotency_key_reused',
    kind: 'conflict',
    title: 'The idempotency key was used for another request',
    meaning: 'The same key came before with another path or body. Use a new key for a new request.',
  },
  () => ({ detail: 'This idempotency key was used before, for another request.' }),
);

export const idempotencyKeyInUse = defineProblem(
  {
    code: 'idempotency_key_in_use',
    kind: 'conflict',
    title: 'The first request with this key is still running',
    meaning: 'Another request with the same key has not ended yet. Try again after `Retry-After`.',
  },
  () => ({
    detail: 'A request with this idempotency key is still running.',
    retryAfterSeconds: 1,
  }),
);

export const idempotencyKeyMismatch = defineProblem(
  {
    code: 'idempotency_key_mismatch',
    kind: 'malformed',
    title: 'Two different idempotency keys were sent',
    meaning:
      'The `Idempotency-Key` header and the field `idempotencyKey` differ. Send one, or both the same.',
  },
  () => ({ detail: 'The Idempotency-Key header and the body name different keys.' }),
);

export const serviceUnavailable = defineProblem(
  {
    code: 'service_unavailable',
    kind: 'unavailable',
    title: 'The service cannot answer at the moment',
    meaning:
      'The service is stopping, or its database is out of reach, too busy or takes no writes. Try again after `Retry-After`.',
  },
  (detail: string) => ({ detail, retryAfterSeconds: 2 }),
);

export const internalError = defineProblem(
  {
    code: 'internal_error',
    kind: 'internal',
    title: 'The service failed',
    meaning: 'A defect of the service. It is logged under the `request_id`.',
  },
  () => ({ detail: 'The service failed to answer this request. It has been logged.' }),
);
