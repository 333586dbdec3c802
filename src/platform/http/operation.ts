import { applyDecorators, HttpCode, SetMetadata, type Type, UseInterceptors } from '@nestjs/common';
import {
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Access } from '../../core/access';
import { groupBy } from '../../core/grouping';
import { type CustomerPlace, RequireAccess, SECURITY_SCHEMES } from '../access';
import {
  crossSiteRequest,
  forbidden,
  hostNotLoopback,
  idempotencyKeyInUse,
  idempotencyKeyRequired,
  idempotencyKeyReused,
  internalError,
  invalidCursor,
  malformedRequest,
  notForCustomerToken,
  outcomeUnknown,
  payloadTooLarge,
  requestTimeout,
  preconditionFailed,
  rateLimited,
  type Problem,
  type ProblemDefinition,
  serviceUnavailable,
  unauthenticated,
  unsupportedMediaType,
  validationFailed,
} from '../errors';
import { IdempotencyInterceptor, REQUIRES_KEY } from '../idempotency/idempotency.interceptor';
import { CSV_MEDIA_TYPE, CsvInterceptor, type CsvRows } from './csv';
import { inputsOf } from './handler-inputs';
import { itemOf } from './list';
import { NoUnreadBody } from './no-body.guard';
import { NoUnreadQuery } from './no-query.guard';
import { ProblemDto } from './problem.dto';
import { PROBLEM_MEDIA_TYPE, problemType, STATUS_OF_KIND } from './problem-response';

type AnyProblem = Pick<Problem, 'definition'>;

/**
 * Inputs of an operation in addition to its path. They imply some of its errors.
 * - `path`: none
 * - `query`: a query; `list`: a query with a cursor
 * - `body`: a body; `raw`: a body that the handler itself reads from the request
 * - `post`: a body and an `Idempotency-Key`
 * - `change`: a body and an `If-Match`; `removal`: an `If-Match`
 */
type Reads = 'path' | 'query' | 'list' | 'body' | 'raw' | 'post' | 'change' | 'removal';

export interface OperationOptions {
  /** Short, in the imperative. */
  readonly summary: string;
  readonly description: string;
  /** Scope that the caller needs. Not optional, so that no operation is open by mistake. */
  readonly access: Access;
  /** Part of the request that contains the id of the customer. If absent, the operation refuses customer tokens. */
  readonly customerToken?: CustomerPlace;
  /** Status of a success, such as 303 for a redirect. Default: 200, or 204 for an operation without an answer. */
  readonly status?: 201 | 303;
  readonly answer?: Type<unknown>;
  /** DTO class of the items of a CSV answer. Default: the class from which `pageOf` made `answer`. */
  readonly csvItem?: Type<unknown>;
  /** Converts items to rows of a CSV answer. Default: one row for each item. */
  readonly csvRows?: CsvRows;
  /** DTO class of the answer with `?preview=true`, which has the status 200. */
  readonly preview?: Type<unknown>;
  /** DTO classes of an operation with several kinds of answers. The key of each is the value of its field `object`. */
  readonly answers?: Readonly<Record<string, Type<unknown>>>;
  /** Media type of an answer that is a file. */
  readonly file?: string;
  /** DTO classes of the lines of an NDJSON answer. */
  readonly lines?: readonly Type<unknown>[];
  /** True if the answer is an array whose elements have the class `answer`. */
  readonly isArray?: true;
  /**
   * Set for a POST that takes an `Idempotency-Key`. `required`: the operation moves money or starts a contract. It
   * refuses a request without a key if the setting `IDEMPOTENCY_KEYS` is `required`.
   */
  readonly key?: 'required' | 'optional';
  /**
   * Inputs of the operation. Default: derived from the parameters of the handler. A handler with a body but without
   * `If-Match` needs either `key`, or `reads: 'body'` to state that it takes no key. `raw` is only for handlers that read
   * the request itself.
   */
  readonly reads?: Reads;
  /** True for a GET whose `ETag` covers the whole answer, so that `If-None-Match` can lead to a 304. */
  readonly conditional?: true;
  /** Errors of the operation, except those that `reads` implies. */
  readonly problems?: readonly AnyProblem[];
}

const BODY: readonly AnyProblem[] = [
  validationFailed,
  malformedRequest,
  payloadTooLarge,
  requestTimeout,
  unsupportedMediaType,
];

const IMPLIED: Readonly<Record<Reads, readonly AnyProblem[]>> = {
  path: [validationFailed, malformedRequest],
  query: [validationFailed, malformedRequest],
  list: [invalidCursor, validationFailed, malformedRequest],
  body: BODY,
  raw: BODY,
  post: [...BODY, idempotencyKeyReused, idempotencyKeyInUse, outcomeUnknown],
  change: [...BODY, outcomeUnknown],
  removal: [validationFailed, malformedRequest, outcomeUnknown],
};

const ALWAYS: readonly AnyProblem[] = [
  rateLimited,
  crossSiteRequest,
  hostNotLoopback,
  serviceUnavailable,
  internalError,
];

/** Declares the documentation, success status and access of the operation of a handler, and adds its guards. */
export function Operation(options: OperationOptions): MethodDecorator {
  return (target, name, descriptor) => {
    const inputs = inputsOf(target, name);
    const reads = options.reads ?? readsOf(options, inputs);
    applyDecorators(...decoratorsOf(options, reads, inputs.ifMatch))(target, name, descriptor);
  };
}

function readsOf(
  { key, answer, summary }: OperationOptions,
  { query, body, ifMatch }: ReturnType<typeof inputsOf>,
): Reads {
  if (key !== undefined) return 'post';
  if (ifMatch) return body ? 'change' : 'removal';
  if (body) {
    throw new Error(`The operation "${summary}" must state its key, or that it takes none.`);
  }
  if (itemOf(answer) !== null) return 'list';
  return query ? 'query' : 'path';
}

function decoratorsOf(
  options: OperationOptions,
  reads: Reads,
  ifMatch: boolean,
): readonly MethodDecorator[] {
  const requiresKey = options.key === 'required';
  const isPaged = reads === 'list';
  const item = options.csvItem ?? (isPaged ? itemOf(options.answer) : null);
  const problems = [
    ...(options.access === 'public' ? [] : [unauthenticated, forbidden, notForCustomerToken]),
    ...(options.problems ?? []),
    ...IMPLIED[reads],
    ...(ifMatch ? [preconditionFailed] : []),
    ...(requiresKey ? [idempotencyKeyRequired] : []),
    ...ALWAYS,
  ];
  return [
    HttpCode(statusOf(options)),
    RequireAccess(options.access, options.customerToken ?? null),
    ...(options.access === 'public' ? [] : [ApiExtension('x-required-scope', options.access)]),
    NoUnreadQuery,
    ...(reads === 'body' || reads === 'post' ? [NoUnreadBody] : []),
    ApiOperation({
      summary: options.summary,
      description: describe(options),
      security: securityOf(options.access),
    }),
    ...successResponses(options, item !== null),
    ...(options.conditional ? [ApiResponse({ status: 304, description: 'Not modified.' })] : []),
    ApiExtraModels(ProblemDto),
    ...(reads === 'post' ? [keyHeader(requiresKey)] : []),
    ...(ifMatch ? [IF_MATCH] : []),
    ...(requiresKey ? [SetMetadata(REQUIRES_KEY, true)] : []),
    ...(item === null ? [] : [UseInterceptors(new CsvInterceptor(item, isPaged, options.csvRows))]),
    // Only on POST routes, because an interceptor costs time on every request.
    ...(reads === 'post' ? [UseInterceptors(IdempotencyInterceptor)] : []),
    ...problemResponses(problems.map(({ definition }) => definition)),
  ];
}

function statusOf({
  status,
  answer,
  answers,
  file,
  lines,
}: OperationOptions): 200 | 201 | 204 | 303 {
  const hasAnswer = [answer, answers, file, lines].some((one) => one !== undefined);
  return status ?? (hasAnswer ? 200 : 204);
}

function describe({ description, access, customerToken }: OperationOptions): string {
  if (access === 'public') return description;
  const tokens =
    customerToken === undefined ? '' : ' Customer tokens may read only data of their own customer.';
  return `${description}\n\nScope: \`${access}\`.${tokens}`;
}

/**
 * Returns the security schemes of an operation; a request needs one of them. OpenAPI has no scopes for HTTP schemes, so
 * the extension `x-required-scope` names the scope.
 */
function securityOf(access: Access): Record<string, never[]>[] {
  return access === 'public' ? [] : SECURITY_SCHEMES.map((scheme) => ({ [scheme]: [] }));
}

const NDJSON = 'application/x-ndjson';

function linesResponse(status: number, lines: readonly Type<unknown>[]): MethodDecorator {
  const [first, ...others] = lines.map((line) => ({ $ref: getSchemaPath(line) }));
  const contentSchema = others.length === 0 ? first : { oneOf: [first, ...others] };
  const schema = { type: 'string', contentMediaType: NDJSON, contentSchema };
  return applyDecorators(
    ApiExtraModels(...lines),
    ApiResponse({
      status,
      description: 'Success. Each line is a JSON object of `contentSchema`.',
      content: { [NDJSON]: { schema } },
    }),
  );
}

function successResponses(options: OperationOptions, isList: boolean): readonly MethodDecorator[] {
  const { answer, preview, answers, file, lines } = options;
  const status = statusOf(options);
  if (status === 303) return [redirectResponse(status)];
  if (answers !== undefined) return [oneOfResponse(status, answers)];
  if (lines !== undefined) return [linesResponse(status, lines)];
  if (answer !== undefined && isList) return [pageResponse(status, answer)];
  const success = ApiResponse({
    status,
    description: status === 204 ? 'Done; no body.' : 'Success.',
    ...(answer === undefined ? {} : { type: answer, isArray: options.isArray === true }),
    ...(file === undefined ? {} : { content: { [file]: { schema: fileSchema(file) } } }),
  });
  if (preview === undefined) return [success];
  const description = 'The preview, with `?preview=true`.';
  return [success, ApiResponse({ status: 200, description, type: preview })];
}

function pageResponse(status: number, page: Type<unknown>): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(page),
    ApiResponse({
      status,
      description:
        'Success. With `Accept: text/csv`, every matching row, whatever `limit` and `cursor` say, with a column for each field that is neither an object nor a list.',
      content: {
        'application/json': { schema: { $ref: getSchemaPath(page) } },
        [CSV_MEDIA_TYPE]: { schema: fileSchema(CSV_MEDIA_TYPE) },
      },
    }),
  );
}

function redirectResponse(status: 303): MethodDecorator {
  return ApiResponse({
    status,
    description: 'A redirect; no body.',
    headers: { Location: { description: 'Address to open.', schema: { type: 'string' } } },
  });
}

function fileSchema(mediaType: string): { readonly type: 'string'; readonly format?: 'binary' } {
  return mediaType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

/** Describes a response that has one of several DTO classes. Clients distinguish them by their field `object`. */
function oneOfResponse(
  status: number,
  answers: Readonly<Record<string, Type<unknown>>>,
): MethodDecorator {
  const references = Object.entries(answers).map(([object, answer]) => ({
    object,
    $ref: getSchemaPath(answer),
  }));
  return applyDecorators(
    ApiExtraModels(...Object.values(answers)),
    ApiResponse({
      status,
      description: 'Success; with `?preview=true` the preview. `object` tells them apart.',
      schema: {
        oneOf: references.map(({ $ref }) => ({ $ref })),
        discriminator: {
          propertyName: 'object',
          mapping: Object.fromEntries(references.map(({ object, $ref }) => [object, $ref])),
        },
      },
    }),
  );
}

const keyHeader = (isRequired: boolean): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'Chosen by the client, 1 to 255 printable ASCII characters. The same key and request give the same answer again.' +
      (isRequired ? ' Mandatory where the service runs with `IDEMPOTENCY_KEYS=required`.' : ''),
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });

const IF_MATCH = ApiHeader({
  name: 'If-Match',
  required: false,
  description: 'The `ETag` of the resource as it was read: 412 if it has changed since.',
  schema: { type: 'string' },
});

function problemResponses(definitions: readonly ProblemDefinition[]): readonly MethodDecorator[] {
  const byStatus = groupBy(definitions, ({ kind }) => STATUS_OF_KIND[kind]);
  return [...byStatus].map(([status, group]) =>
    ApiResponse({
      status,
      description: group.map(({ code, title }) => `\`${code}\`: ${title}.`).join('\n\n'),
      content: {
        [PROBLEM_MEDIA_TYPE]: {
          schema: { $ref: getSchemaPath(ProblemDto) },
          examples: Object.fromEntries(
            group.map((definition) => [definition.code, { value: exampleOf(definition, status) }]),
          ),
        },
      },
    }),
  );
}

function exampleOf({ code, title, meaning }: ProblemDefinition, status: number): ProblemDto {
  return {
    type: problemType(code),
    title,
    status,
    detail: meaning,
    code,
    request_id: '5f0c9b1e-3f0a-4f6e-9a57-0a8f3b6f2d11',
    errors: [],
  };
}
