import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { assignRequestId } from '../http/request-id';

/** Asked every few seconds by machines, or of no use to read. */
const NOT_LOGGED = /^\/(health|metrics|docs)/;

/** One line an answer: no header and no body, which may hold secrets; the path without its query. */
export function requestLog(logger: Logger): RequestHandler {
  // None of the few fields of these lines can hold a secret, and to look for one in each costs more than the line.
  const lines = logger.child({}, { redact: [] });
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    const id = assignRequestId(request, response);
    Object.assign(request, { id });
    const { method, originalUrl } = request;
    if (!NOT_LOGGED.test(originalUrl)) {
      response.on('close', () => {
        const { statusCode: status, writableFinished } = response;
        const line = {
          request_id: id,
          duration_ms: Math.round(performance.now() - startedAt),
          method,
          path: originalUrl.split('?', 1)[0]?.slice(0, 300),
          status,
        };
        lines[status >= 500 ? 'error' : 'info'](
          // The caller hung up before the whole answer was sent.
          writableFinished ? line : { ...line, aborted: true },
          'request',
        );
      });
    }
    next();
  };
}
