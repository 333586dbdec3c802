import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { assignRequestId } from '../http/request-id';
import { traceIdsOf } from '../tracing';

/** Paths of probes and metrics, which machines poll every few seconds, and of the documentation with its files. */
const POLLED = /^\/(?:health\/live|health\/ready|metrics|docs(?:\/.*)?)$/;

/**
 * Logs one line per answer. Omits headers, bodies and query strings, which may contain secrets. Of the requests to
 * polled paths, only refused ones are logged. These lines show if someone tries a stolen credential there.
 */
export function requestLog(logger: Logger): RequestHandler {
  // Redaction is off: no field of these lines can contain a secret, and searching for one costs more than the line.
  const lines = logger.child({}, { redact: [] });
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    const id = assignRequestId(request, response);
    Object.assign(request, { id });
    const { method, originalUrl } = request;
    response.on('close', () => {
      const { statusCode: status, writableFinished } = response;
      const [path = ''] = originalUrl.split('?', 1);
      const isRefused = status >= 400 && status < 500;
      if (!isRefused && POLLED.test(path)) return;
      const line = {
        request_id: id,
        ...traceIdsOf(request),
        duration_ms: Math.round(performance.now() - startedAt),
        method,
        path: path.slice(0, 300),
        status,
      };
      lines[status >= 500 ? 'error' : 'info'](
        // `aborted` means that the caller disconnected before the whole answer was sent.
        writableFinished ? line : { ...line, aborted: true },
        'request',
      );
    });
    next();
  };
}
