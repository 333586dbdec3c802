import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { isLoopback } from '../config';
import { crossSiteRequest, hostNotLoopback, type ProblemError } from '../errors';

/** Host name, IPv4 address, or IPv6 address in brackets, with an optional port. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^[\]:/?#@\\\s]+))(?::\d{1,5})?$/i;

const REFUSED =
  'A browser sent this for a page of another origin, which a service on loopback without API keys refuses.';

/**
 * Refuses requests of other web sites to a service that listens on loopback and needs no key. To prevent DNS rebinding,
 * the `Host` header must name loopback. `Sec-Fetch-Site` and `Origin`, which only browsers send, show whether a page of
 * another site or port sent the request.
 */
export function guardLoopback(request: Request, _response: Response, next: NextFunction): void {
  next(loopbackRefusal(request) ?? undefined);
}

/** Returns the error for a request that a service on loopback refuses; null if it accepts the request. */
export function loopbackRefusal(request: IncomingMessage): ProblemError | null {
  const { host = '', ...headers } = request.headers;
  if (!namesLoopback(host)) return hostNotLoopback(host.slice(0, 200));
  return isCrossSite(request.method, host, headers) ? crossSiteRequest(REFUSED) : null;
}

function namesLoopback(host: string): boolean {
  const [, address, name] = HOST.exec(host) ?? [];
  return isLoopback((address ?? name ?? '').toLowerCase());
}

function isCrossSite(
  method: string | undefined,
  host: string,
  headers: IncomingHttpHeaders,
): boolean {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== undefined) return !isNavigation(method, headers);
  const { origin } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase();
}

/**
 * Returns true if the request opens a page, for example because the user followed a link. Such a request is allowed,
 * because it changes nothing, and the page with the link cannot read the answer.
 */
function isNavigation(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}
