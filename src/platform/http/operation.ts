import { applyDecorators, HttpCode, type Type, UseInterceptors } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import {
  idempotencyKeyInUse,
  idempotencyKeyReused,
  internalError,
  malformedRequest,
  payloadTooLarge,
  preconditionFailed,
  type Problem,
  type ProblemDefinition,
  serviceUnavailable,
  unsupportedMediaType,
  validationFailed,
} from '../errors';
import { IdempotencyInterceptor } from '../idempotency/idempotency.interceptor';
import { NoUnreadQuery } from './no-query.guard';
import { ProblemDto } from './problem.dto';
import { PROBLEM_MEDIA_TYPE, problemType, STATUS_OF_KIND } from './problem-response';

type AnyProblem = Pick<Problem, 'definition'>;

export interface OperationOptions {
  /** A few words, imperative. */
  readonly summary: string;
  readonly description?: string;
  readonly status: 200 | 201 | 204;
  /** The class of the answer; none for 204. */
  readonly answer?: Type<unknown>;
  /** The media type of an answer that is a file. */
  readonly file?: string;
  /** The answer is a bare array of the class. */
  readonly isArray?: true;
  /** What the operation can fail with, beside what its `reads` imply. */
  readonly problems?: readonly AnyProblem[];
  /**
   * What the operation reads, beside a query that its handler declares: `query` or `body` can be malformed; `post` is a body and an `Idempotency-Key`; `change` is
   * a body and an `If-Match`, `removal` an `If-Match` alone.
   */
  readonly reads: 'path' | 'query' | 'body' | 'post' | 'change' | 'removal';
}

const BODY: readonly AnyProblem[] = [
  validationFailed,
  malformedRequest,
  payloadTooLarge,
  unsupportedMediaType,
];

const IMPLIED: Readonly<Record<OperationOptions['reads'], readonly AnyProblem[]>> = {
  path: [validationFailed, malformedRequest],
  query: [validationFailed, malformedRequest],
  body: BODY,
  post: [...BODY, idempotencyKeyReused, idempotencyKeyInUse],
  change: [...BODY, preconditionFailed],
  removal: [validationFailed, malformedRequest, preconditionFailed],
};

const ALWAYS: readonly AnyProblem[] = [serviceUnavailable, internalError];

/** Everything the documentation says of an operation, and its success status, in one place above the handler. */
export function Operation(options: OperationOptions): MethodDecorator {
  const problems = [...(options.problems ?? []), ...IMPLIED[options.reads], ...ALWAYS];
  return applyDecorators(
    HttpCode(options.status),
    NoUnreadQuery,
    ApiOperation({ summary: options.summary, description: options.description ?? '' }),
    ApiResponse({
      status: options.status,
      description: options.status === 204 ? 'Done; no body.' : 'Success.',
      ...(options.answer === undefined
        ? {}
        : { type: options.answer, isArray: options.isArray === true }),
      ...(options.file === undefined
        ? {}
        : { content: { [options.file]: { schema: { type: 'string', format: 'binary' } } } }),
    }),
    ApiExtraModels(ProblemDto),
    ...headersOf(options.reads),
    // Not on every route: the others would pay for an interceptor that does nothing.
    ...(options.reads === 'post' ? [UseInterceptors(IdempotencyInterceptor)] : []),
    ...problemResponses(problems.map(({ definition }) => definition)),
  );
}

function headersOf(reads: OperationOptions['reads']): readonly MethodDecorator[] {
  if (reads === 'post') {
    return [
      ApiHeader({
        name: 'Idempotency-Key',
        required: false,
        description:
          'Chosen by the client, 1 to 255 printable ASCII characters. The same key and request give the same answer again.',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      }),
    ];
  }
  if (reads === 'change' || reads === 'removal') {
    return [
      ApiHeader({
        name: 'If-Match',
        required: false,
        description: 'The `ETag` of the resource as it was read: 412 if it has changed since.',
        schema: { type: 'string' },
      }),
    ];
  }
  return [];
}

function problemResponses(definitions: readonly ProblemDefinition[]): readonly MethodDecorator[] {
  const byStatus = new Map<number, ProblemDefinition[]>();
  for (const definition of definitions) {
    const status = STATUS_OF_KIND[definition.kind];
    byStatus.set(status, [...(byStatus.get(status) ?? []), definition]);
  }
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
