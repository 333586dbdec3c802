import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable, isWorthRetrying } from '../database';
import {
  internalError,
  malformedRequest,
  payloadTooLarge,
  ProblemError,
  type ProblemKind,
  serviceUnavailable,
  unsupportedMediaType,
} from '../errors';
import { NOT_UTF8 } from './charset';

/** The one place where a kind of failure becomes a status. */
export const STATUS_OF_KIND: Readonly<Record<ProblemKind, number>> = {
  malformed: 400,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  timed_out: 408,
  too_large: 413,
  unsupported_media_type: 415,
  rule_broken: 422,
  internal: 500,
  unavailable: 503,
};

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** Names the code for good, wherever the documentation moves to. */
export function problemType(code: string): string {
  return `urn:billing-engine:problem:${code}`;
}

export interface ProblemResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const CLOSING: ReadonlySet<ProblemKind> = new Set(['timed_out', 'unavailable']);

/** The answer to a failure, as RFC 9457 says. */
export function problemResponse(problem: ProblemError, requestId: string): ProblemResponse {
  const { definition, occurrence } = problem;
  const status = STATUS_OF_KIND[definition.kind];
  const headers: Record<string, string> = { 'Content-Type': PROBLEM_MEDIA_TYPE };
  if (occurrence.retryAfterSeconds !== undefined) {
    headers['Retry-After'] = String(occurrence.retryAfterSeconds);
  }
  // The rest of what was being sent could come at any time, or never; and whoever is unavailable is so to the next request.
  if (CLOSING.has(definition.kind)) headers['Connection'] = 'close';
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

/** What body-parser and the router throw: errors that know their status. */
interface StatusError extends Error {
  readonly status?: number;
  readonly type?: string;
}

/** Turns whatever was thrown into a problem the caller may see. Unknown errors say nothing of themselves. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  // Deadlocks come this far when the work met one each time it was done again.
  if (isDatabaseUnavailable(error) || isWorthRetrying(error)) {
    return serviceUnavailable('The database is out of reach or too busy.');
  }
  const status = statusOf(error);
  if (status === 413) return payloadTooLarge('The body holds more than this route reads.');
  if (status === 415)
    return unsupportedMediaType('The encoding or charset of the body is not read.');
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

/** Nest wraps what the parser of bodies and the router throw. */
function reasonOf(error: unknown): string {
  const cause = error instanceof HttpException ? error.cause : error;
  if (cause instanceof URIError) return 'The path is not correctly percent-encoded.';
  switch ((cause as StatusError | undefined)?.type) {
    case 'entity.parse.failed':
      return 'The body is not valid JSON.';
    case NOT_UTF8:
      return 'The body is not UTF-8.';
    default:
      return 'The request could not be read.';
  }
}
