import type { OpenAPIObject } from '@nestjs/swagger';
import { PROBLEM_MEDIA_TYPE } from '../platform/http';
import { type OperationObject, operationsOf } from './operations';

type DocumentedResponse = OperationObject['responses'][string];

const text = { type: 'string' } as const;

const HEADERS = {
  ETag: { description: 'Version of the object, for `If-Match`.', schema: text },
  'Retry-After': {
    description: 'If sent: seconds to wait before the same request is sent again.',
    schema: { type: 'integer' },
  },
  RateLimit: {
    description: 'The limit, the requests that remain, and the seconds until it is reset.',
    schema: text,
  },
  'RateLimit-Policy': { description: 'The limit and its seconds.', schema: text },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: text },
  'Accept-Encoding': {
    description: 'If sent: the encodings of bodies that are supported.',
    schema: text,
  },
  'Idempotent-Replayed': {
    description: 'If sent: `true`, for the stored answer to an earlier request with the same key.',
    schema: text,
  },
} as const;

const NOT_MODIFIED = {
  description: 'The object is the same as that with the `ETag` in `If-None-Match`; no body.',
  headers: refersTo('ETag'),
};

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier answer: 304 without a body if the object is the same.',
  schema: text,
} as const;

/** Statuses of errors that may disappear if the client waits and tries again: conflicts, limits and outages. */
const MAY_BE_RETRIED: ReadonlySet<string> = new Set(['409', '429', '503']);

/** Statuses of refusals that depend on stored state, and are therefore replayed for the same idempotency key. */
const STORED_REFUSALS: ReadonlySet<string> = new Set(['404', '409', '422']);

const isReplayed = (status: string): boolean =>
  status.startsWith('2') || STORED_REFUSALS.has(status);

/** Headers of errors, by status. `Retry-After` and `WWW-Authenticate` are added separately. */
const OF_ERRORS: Readonly<Record<string, readonly (keyof typeof HEADERS)[]>> = {
  '415': ['Accept-Encoding'],
  '429': ['RateLimit', 'RateLimit-Policy'],
};

/**
 * Declares the headers of responses. Must run after the error responses were moved to the components.
 * - `ETag` for objects that can be read or changed under a condition
 * - `Idempotent-Replayed` for requests with an idempotency key
 * - `Retry-After` for errors that may disappear if the client waits
 * - the headers of {@link OF_ERRORS}
 */
export function addResponseHeaders(document: OpenAPIObject): void {
  const components = (document.components ??= {});
  const shared = (components.responses ??= {});
  components.headers = HEADERS;
  const versioned = versionedObjects(document.paths);
  for (const response of Object.values(shared)) {
    if (holdsError(response, 'unauthenticated')) addHeader(response, 'WWW-Authenticate');
  }
  for (const { operation } of operationsOf(document.paths)) {
    for (const status of ['200', '201']) {
      const response = operation.responses[status];
      if (objectsOf(response).some((object) => versioned.has(object))) addHeader(response, 'ETag');
    }
    if (operation.responses['304'] !== undefined) {
      addHeader(operation.responses['200'], 'ETag');
      operation.responses['304'] = { $ref: '#/components/responses/not_modified' };
      shared['not_modified'] = NOT_MODIFIED;
      operation.parameters = [...(operation.parameters ?? []), IF_NONE_MATCH];
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      if (isReplayed(status) && takes(operation, 'Idempotency-Key'))
        addHeader(resolved(response, shared), 'Idempotent-Replayed');
      if (MAY_BE_RETRIED.has(status)) addHeader(resolved(response, shared), 'Retry-After');
      for (const name of OF_ERRORS[status] ?? []) addHeader(resolved(response, shared), name);
    }
  }
}

/** Returns the schema references of the objects that can be read or changed under a condition. */
function versionedObjects(paths: OpenAPIObject['paths']): ReadonlySet<string> {
  const objects = Object.entries(paths).flatMap(([path, { get, patch }]) => {
    const isConditional = get?.responses['304'] !== undefined;
    if (!isConditional && (patch === undefined || !takes(patch, 'If-Match'))) return [];
    const creation = paths[path.replace(/\/\{\w+\}$/, '')]?.post;
    const responses = [get?.responses['200'], patch?.responses['200'], creation?.responses['201']];
    return responses.flatMap(objectsOf);
  });
  return new Set(objects);
}

/** Returns the schema references of the objects that a response can contain. */
function objectsOf(response: DocumentedResponse): readonly string[] {
  if (response === undefined || '$ref' in response) return [];
  const schema = response.content?.['application/json']?.schema;
  if (schema === undefined) return [];
  if ('$ref' in schema) return [schema.$ref];
  return (schema.oneOf ?? []).flatMap((one) => ('$ref' in one ? [one.$ref] : []));
}

function holdsError(response: DocumentedResponse, code: string): boolean {
  if (response === undefined || '$ref' in response) return false;
  return code in (response.content?.[PROBLEM_MEDIA_TYPE]?.examples ?? {});
}

function takes({ parameters = [] }: OperationObject, header: string): boolean {
  return parameters.some((one) => 'name' in one && one.name === header);
}

function resolved(
  response: DocumentedResponse,
  shared: NonNullable<NonNullable<OpenAPIObject['components']>['responses']>,
): DocumentedResponse {
  if (response === undefined || !('$ref' in response)) return response;
  return shared[response.$ref.replace('#/components/responses/', '')];
}

function addHeader(response: DocumentedResponse, name: keyof typeof HEADERS): void {
  if (response === undefined || '$ref' in response) return;
  response.headers = { ...response.headers, ...refersTo(name) };
}

function refersTo(name: keyof typeof HEADERS): Readonly<Record<string, { $ref: string }>> {
  return { [name]: { $ref: `#/components/headers/${name}` } };
}
