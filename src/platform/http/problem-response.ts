import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable, isWorthRetrying, OutcomeUnknownError } from '../database';
import {
  internalError,
  malformedRequest,
  outcomeUnknown,
  payloadTooLarge,
  ProblemError,
  type ProblemKind,
  serviceUnavailable,
  unsupportedMediaType,
} from '../errors';

export const STATUS_OF_KIND: Readonly<Record<ProblemKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  timed_out: 408,
  too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  rule_broken: 422,
  too_many_requests: 429,
  head_too_large: 431,
  internal: 500,
  unavailable: 503,
};

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** Returns the stable identifier of an error code, which does not depend on the address of the documentation. */
export function problemType(code: string): string {
  return `urn:billing-engine:problem:${code}`;
}

export interface ProblemResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const CLOSING: ReadonlySet<ProblemKind> = new Set(['timed_out', 'unavailable']);

export function problemResponse(problem: ProblemError, requestId: string): ProblemResponse {
  const { definition, occurrence } = problem;
  const status = STATUS_OF_KIND[definition.kind];
  const headers: Record<string, string> = { 'Content-Type': PROBLEM_MEDIA_TYPE };
  if (occurrence.retryAfterSeconds !== undefined) {
    headers['Retry-After'] = String(occurrence.retryAfterSeconds);
  }
  // Closes the connection: the rest of the body may never arrive, and an unavailable process cannot serve the next
  // request.
  if (CLOSING.has(definition.kind)) headers['Connection'] = 'close';
  if (occurrence.acceptedEncodings !== undefined) {
    headers['Accept-Encoding'] = occurrence.acceptedEncodings.join(', ');
  }
  if (occurrence.authenticate !== undefined) {
    headers['WWW-Authenticate'] = occurrence.authenticate;
  }
  if (occurrence.allow !== undefined) headers['Allow'] = occurrence.allow.join(', ');
  return {
    status,
    headers,
    body: {
      type: problemType(definition.code),
      title: definition.title,
      status,
      detail: occurrence.detail,
      code: definition.code,
      request_id: requestId,
      ...occurrence.extensions,
      errors: occurrence.errors ?? [],
    },
  };
}

/** Error with an HTTP status, thrown by body-parser or by the router. */
interface StatusError extends Error {
  readonly status?: number;
  readonly type?: string;
}

/** Converts a thrown value to a problem for the caller. For an unknown error, the problem reveals no details. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof OutcomeUnknownError) return outcomeUnknown();
  // A deadlock gets here after all retries have failed.
  if (isDatabaseUnavailable(error) || isWorthRetrying(error)) {
    return serviceUnavailable('The database is unreachable or overloaded. Try again later.');
  }
  const status = statusOf(error);
  if (status === 413) return payloadTooLarge('The body is larger than this route accepts.');
  if (status === 415)
    return unsupportedMediaType(
      'The encoding or charset of the body is not supported. Send UTF-8.',
    );
  if (status === 503) return serviceUnavailable('The service is stopping.');
  if (status !== null && status >= 400 && status < 500) return malformedRequest(reasonOf(error));
  return internalError();
}

function statusOf(error: unknown): number | null {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof URIError) return 400;
  if (!(error instanceof Error)) return null;
  return (error as StatusError).status ?? null;
}

/** Returns why the request is malformed. If Nest has wrapped an error of the router, the reason is in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof HttpException ? error.cause : error;
  return cause instanceof URIError
    ? 'The path is not correctly percent-encoded.'
    : 'The request could not be read.';
}
