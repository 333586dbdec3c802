import type { Span } from '@opentelemetry/api';
import type { NextFunction, Request, Response } from 'express';
import { markFailed, isTracing, startSpan, traceIds, type TraceIds, within } from './tracing';

/** Paths that machines request every few seconds, and that are not traced. */
const NOT_TRACED = /^\/(health|metrics)/;

const spans = new WeakMap<Request, Span>();

/** Returns the ids of the trace and span of a request, for its log line; empty if the request is not traced. */
export function traceIdsOf(request: Request): TraceIds {
  const span = spans.get(request);
  return span === undefined ? {} : traceIds(span);
}

/** Starts the span of a request, in the trace that the header `traceparent` names. Must be the first middleware. */
export function startRequestSpan(request: Request, response: Response, next: NextFunction): void {
  if (!isTracing()) {
    next();
    return;
  }
  const { method, originalUrl, headers } = request;
  const span = NOT_TRACED.test(originalUrl)
    ? null
    : startSpan(
        { name: method, kind: 'server', attributes: { 'http.request.method': method } },
        headers,
      );
  if (span !== null) {
    spans.set(request, span);
    response.once('close', () => endRequestSpan(span, request, response));
  }
  next();
}

/** Ends the span of a request and names it by the route. A name with the path would differ for each id in the path. */
function endRequestSpan(span: Span, request: Request, response: Response): void {
  const { statusCode } = response;
  const route = (request.route as { readonly path?: unknown } | undefined)?.path;
  if (typeof route === 'string') {
    span.updateName(`${request.method} ${route}`);
    span.setAttribute('http.route', route);
  }
  span.setAttribute('http.response.status_code', statusCode);
  if (statusCode >= 500) markFailed(span, String(statusCode));
  else if (!response.writableFinished) markFailed(span, 'aborted');
  span.end();
}

/**
 * Middleware that makes the span of a request the current span, so that the work of the request is traced under it. It
 * must come after the middleware that reads the body, because body callbacks run outside the asynchronous context of
 * the request.
 */
export function enterRequestSpan(request: Request, response: Response, next: NextFunction): void {
  const span = spans.get(request);
  if (span === undefined) {
    next();
    return;
  }
  const leave = within(span, next);
  // If the client disconnected while its body was read, the response has already emitted `close`.
  if (response.closed) leave();
  else response.once('close', leave);
}
