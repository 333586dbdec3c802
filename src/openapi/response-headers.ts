import type { OpenAPIObject } from '@nestjs/swagger';
import { type OperationObject, operationsOf } from './operations';

type DocumentedResponse = OperationObject['responses'][string];
type Conditions = Record<string, NonNullable<OperationObject['parameters']>[number]>;

const text = { type: 'string' } as const;

const HEADERS = {
  ETag: { description: 'Version of the object, for `If-Match`.', schema: text },
  'Retry-After': {
    description: 'If sent: seconds to wait before the same request is sent again.',
    schema: { type: 'integer' },
  },
  'Idempotent-Replayed': {
    description:
      '`true` if this is the stored answer to an earlier request with the same key. A stored refusal has it as well.',
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

const CONDITIONS: ReadonlySet<string> = new Set(['If-Match', 'If-None-Match']);

/** Statuses of errors that may end by waiting: conflicts, limits and outages. */
const MAY_BE_RETRIED: ReadonlySet<string> = new Set(['409', '429', '503']);

/**
 * Declares the headers of answers: `ETag` for objects that can be read or changed under a condition,
 * `Idempotent-Replayed` for requests with a key, and `Retry-After` for errors that may end by waiting. Moves `If-Match`
 * to the components. Must run after the error responses were moved there.
 */
export function addResponseHeaders(document: OpenAPIObject): void {
  const components = (document.components ??= {});
  const shared = (components.responses ??= {});
  const conditions: Conditions = {};
  components.headers = HEADERS;
  components.parameters = conditions;
  for (const { path, method, operation } of operationsOf(document.paths)) {
    const change = document.paths[path]?.patch;
    const isVersioned = change !== undefined && takes(change, 'If-Match');
    const isConditional = operation.responses['304'] !== undefined;
    const isCommand = method === 'post' && takes(operation, 'If-Match');
    if (isConditional || isCommand || (isVersioned && (method === 'get' || method === 'patch')))
      addHeader(operation.responses['200'], 'ETag');
    if (isConditional) {
      operation.responses['304'] = { $ref: '#/components/responses/not_modified' };
      shared['not_modified'] = NOT_MODIFIED;
      operation.parameters = [...(operation.parameters ?? []), IF_NONE_MATCH];
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status.startsWith('2') && takes(operation, 'Idempotency-Key'))
        addHeader(response, 'Idempotent-Replayed');
      if (MAY_BE_RETRIED.has(status)) addHeader(resolved(response, shared), 'Retry-After');
    }
  }
  for (const { operation } of operationsOf(document.paths)) shareConditions(operation, conditions);
}

/** Replaces the conditions that an operation takes with references. */
function shareConditions(operation: OperationObject, conditions: Conditions): void {
  operation.parameters = operation.parameters?.map((one) => {
    if (!('name' in one) || !CONDITIONS.has(one.name)) return one;
    conditions[one.name] = one;
    return { $ref: `#/components/parameters/${one.name}` };
  });
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
