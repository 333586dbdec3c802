import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Logger,
  NotFoundException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { SAFE_METHODS } from '../../core/safe-methods';
import { OutcomeUnknownError } from '../database';
import { methodNotAllowed, type ProblemError, routeNotFound } from '../errors';
import { StoredRefusal } from './stored-refusal';
import { asProblem, problemResponse } from './problem-response';
import { requestIdOf } from './request-id';
import { methodsAnswering } from './routes';

/**
 * Answers each error with an RFC 9457 problem. Cuts off an answer whose headers were already sent. Logs defects and
 * database failures.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    if (error instanceof StoredRefusal) {
      const body = error.bodyFor(requestIdOf(request));
      response.status(error.status).set(error.headers).send(body);
      return;
    }
    const problem = this.problemOf(error, request);
    const { kind } = problem.definition;
    if (kind === 'internal' || (kind === 'unavailable' && problem !== error)) {
      this.logger.error({ err: error, request_id: requestIdOf(request) }, 'request failed');
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const { status, headers, body } = problemResponse(problem, requestIdOf(request));
    response.status(status).set(headers).send(JSON.stringify(body));
  }

  private problemOf(error: unknown, request: Request): ProblemError {
    // A read changes nothing, so the caller may repeat it without knowing the outcome of the first attempt.
    if (error instanceof OutcomeUnknownError && SAFE_METHODS.has(request.method)) {
      return asProblem(error.cause);
    }
    if (!(error instanceof NotFoundException)) return asProblem(error);
    const allow = methodsAnswering(request);
    return allow.length > 0
      ? methodNotAllowed(request.method, allow)
      : routeNotFound(request.method, request.path.slice(0, 200));
  }
}
