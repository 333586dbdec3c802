import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { type HttpLogger, pinoHttp } from 'pino-http';
import { assignRequestId } from '../http/request-id';

/** One line an answer: no header and no body, which may hold secrets; the path without its query. */
export function requestLog(logger: Logger): HttpLogger {
  return pinoHttp({
    logger,
    genReqId: assignRequestId,
    quietReqLogger: true,
    customAttributeKeys: { reqId: 'request_id', responseTime: 'duration_ms' },
    autoLogging: { ignore: (request) => /^\/(health|metrics|docs)/.test(request.url ?? '') },
    customLogLevel: (_request, response, error) =>
      error !== undefined || response.statusCode >= 500 ? 'error' : 'info',
    serializers: { req: () => undefined, res: () => undefined, err: () => undefined },
    customSuccessObject: facts,
    customErrorObject: facts,
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
  });
}

function facts(
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
  value: object,
): object {
  const url = request.originalUrl ?? request.url ?? '';
  return {
    ...value,
    method: request.method,
    path: url.split('?', 1)[0]?.slice(0, 300),
    status: response.statusCode,
  };
}
