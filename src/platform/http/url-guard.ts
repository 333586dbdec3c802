import type { IncomingMessage, Server } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { expectationFailed, malformedRequest, type ProblemError } from '../errors';
import { isInherited, isStorable } from './body-guard';
import { toValidationError, unknownField } from './faults';

/** Errors of requests that {@link guardUrl} refuses. */
const refusals = new WeakMap<IncomingMessage, ProblemError>();

/**
 * Marks three kinds of requests, which {@link guardUrl} then refuses:
 * - a target that Express cannot parse (`http://[/v1`);
 * - a missing or repeated `Host`;
 * - an unknown `Expect`.
 * Middleware logs and measures them like any other request. Without this function, Node or Express would accept a
 * repeated `Host`. They would refuse the other requests before any middleware, with an answer that is no RFC 9457
 * problem.
 */
export function catchUnroutable(server: Server): void {
  server.prependListener('request', (request: Request) => {
    const fault = hostFault(request);
    if (fault !== null) refusals.set(request, malformedRequest(fault));
    const target = request.url;
    if (isReadable(request)) return;
    refusals.set(request, malformedRequest('The request target is neither a path nor a URL.'));
    request.originalUrl = target;
    request.url = '/';
  });
  server.on('checkExpectation', (request, response) => {
    refusals.set(request, expectationFailed());
    server.emit('request', request, response);
  });
}

/**
 * Returns why the `Host` of the request breaks RFC 9112, section 3.2; null if it does not. Several `Host` headers are
 * refused, because Node uses the first one, while a proxy in front may use another.
 */
export function hostFault({ headersDistinct, httpVersion }: IncomingMessage): string | null {
  const { host = [] } = headersDistinct;
  if (host.length > 1) return 'The request has several Host headers.';
  return host.length === 0 && httpVersion === '1.1' ? 'The request has no Host header.' : null;
}

function isReadable(request: Request): boolean {
  const { url } = request;
  if (url === '*') return true;
  if (!url.startsWith('/') && !(/^https?:\/\//i.test(url) && URL.canParse(url))) return false;
  // Without `HttpAdapter`, requests get the prototype of Express later.
  if (!('path' in request)) return true;
  try {
    // Uses the older `url.parse`, which throws for some of these targets, such as `http://%@x` and `//%@x#`.
    return request.path.startsWith('/');
  } catch {
    return false;
  }
}

/**
 * Refuses the requests that {@link catchUnroutable} has marked. Also refuses a query with:
 * - wrong percent-encoding;
 * - NUL bytes, which the database cannot store;
 * - a repeated parameter;
 * - a parameter named like an inherited property, such as `constructor`.
 */
export function guardUrl(request: Request, _response: Response, next: NextFunction): void {
  const refusal = refusals.get(request);
  if (refusal !== undefined) {
    next(refusal);
    return;
  }
  const question = request.originalUrl.indexOf('?');
  if (question === -1) {
    next();
    return;
  }
  const query = request.originalUrl.slice(question + 1);
  if (!isEncodedUtf8(query)) {
    next(malformedRequest('The percent-encoding of the query is not that of UTF-8 text.'));
    return;
  }
  const parameters = new URLSearchParams(query);
  const seen = new Set<string>();
  for (const [name, value] of parameters) {
    if (seen.has(name)) {
      next(malformedRequest(`The query parameter ${JSON.stringify(name)} is given twice.`));
      return;
    }
    if (!isStorable(name) || !isStorable(value)) {
      next(malformedRequest(`The query parameter ${JSON.stringify(name)} holds a NUL byte.`));
      return;
    }
    if (isInherited(name)) {
      next(toValidationError([unknownField(name)]));
      return;
    }
    seen.add(name);
  }
  next();
}

/**
 * Returns false if the percent-encoding is wrong. `URLSearchParams` would replace the wrong bytes with U+FFFD, and the
 * changed text could match another object.
 */
function isEncodedUtf8(query: string): boolean {
  if (!query.includes('%')) return true;
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}
