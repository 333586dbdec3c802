import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { assignRequestId } from '../http/request-id';
import { traceIdsOf } from '../tracing';

/** Paths that are not logged: probes and metrics, which machines poll every few seconds, and the documentation. */
const NOT_LOGGED = /^\/(health|metrics|docs)/;

/** Logs one line per answer. Omits headers, bodies and query strings, which may contain secrets. */
export function requestLog(logger: Logger): RequestHandler {
  // Redaction is off: no field of these lines can contain a secret, and searching for one costs more than the line.
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
          ...traceIdsOf(request),
          duration_ms: Math.round(performance.now() - startedAt),
          method,
          path: originalUrl.split('?', 1)[0]?.slice(0, 300),
          status,
        };
        lines[status >= 500 ? 'error' : 'info'](
          // `aborted` means that the caller disconnected before the whole answer was sent.
          writableFinished ? line : { ...line, aborted: true },
          'request',
        );
      });
    }
    next();
  };
}
