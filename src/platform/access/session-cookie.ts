import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CookieOptions, Request, Response } from 'express';
import { SAFE_METHODS } from '../../core/safe-methods';
import { isLoopback } from '../config';
import { crossSiteRequest } from '../errors';

/** Cookie that holds the secret of an admin's session. With TLS its name begins with `__Secure-`. */
export const SESSION_COOKIE = 'billing_session';

/** Browsers accept a cookie with this prefix only over TLS, so that an attacker on the network cannot set it. */
const SECURE_PREFIX = '__Secure-';

/** Name of the Express setting that is true if browsers reach the service over TLS only. */
export const TLS_ONLY = 'tls only';

export type CookieRequest = Pick<Request, 'app' | 'headers'>;

const CSRF_HEADER = 'x-csrf-token';

export function nameOfCookie(name: string, isSecure: boolean): string {
  return isSecure ? `${SECURE_PREFIX}${name}` : name;
}

/** Returns the value of a cookie, or null. If the page uses TLS, ignores a cookie that was set without TLS. */
export function cookieOf(request: CookieRequest, name: string): string | null {
  const { headers } = request;
  const secure = valueOf(headers, nameOfCookie(name, true));
  return secure ?? (needsSecureCookie(request) ? null : valueOf(headers, name));
}

function valueOf({ cookie }: IncomingHttpHeaders, name: string): string | null {
  const prefix = `${name}=`;
  const pair = cookie?.split(';').find((part) => part.trimStart().startsWith(prefix));
  return pair?.trim().slice(prefix.length) ?? null;
}

export function sessionSecretOf(request: CookieRequest): string | null {
  return cookieOf(request, SESSION_COOKIE);
}

export function setSessionCookie(
  { request, response }: { readonly request: Request; readonly response: Response },
  session: { readonly secret: string; readonly expiresInMs: number } | null,
): void {
  const options = {
    httpOnly: true,
    sameSite: 'strict',
    path: '/v1',
    secure: needsSecureCookie(request),
  } as const satisfies CookieOptions;
  const name = nameOfCookie(SESSION_COOKIE, options.secure);
  if (session === null) response.clearCookie(name, options);
  else response.cookie(name, session.secret, { ...options, maxAge: session.expiresInMs });
}

/**
 * Returns false only for a page on loopback without TLS, because some browsers store no secure cookie there. With
 * {@link TLS_ONLY}, returns true for every page, because a proxy may send a `Host` that names loopback.
 */
export function needsSecureCookie({ app, headers }: CookieRequest): boolean {
  if (app.enabled(TLS_ONLY)) return true;
  const { origin, host = '' } = headers;
  const page = origin ?? `http://${host}`;
  if (!URL.canParse(page)) return true;
  const { protocol, hostname } = new URL(page);
  return protocol !== 'http:' || !isLoopback(hostname.replaceAll(/[[\]]/g, ''));
}

/**
 * Returns the CSRF token that a page must send with each change. It need not be stored, because it is derived from the
 * session secret, which pages cannot read.
 */
export function csrfTokenOf(sessionSecret: string): string {
  return createHmac('sha256', sessionSecret).update('csrf').digest('base64url');
}

/**
 * Refuses a request that a page of another origin sends with the session cookie of an admin. A change needs two things:
 * - `Sec-Fetch-Site: same-origin`, which pages cannot set
 * - the CSRF token, which only pages of this origin can read
 * @throws {ProblemError} `cross_site_request`
 */
export function refuseCrossSiteRequest({ method, headers }: Request, sessionSecret: string): void {
  const isSafe = SAFE_METHODS.has(method);
  if (!isSafe || headers['sec-fetch-site'] !== undefined) requireSameOrigin(headers, isSafe);
  if (!isSafe && !isEqual(headers[CSRF_HEADER], csrfTokenOf(sessionSecret))) {
    throw crossSiteRequest(
      'The header X-CSRF-Token is missing or belongs to another session. Send the csrf_token of GET /v1/session.',
    );
  }
}

/**
 * Refuses a sign-in sent by a page of another origin, which could sign the browser in to the attacker's account.
 * @throws {ProblemError} `cross_site_request`
 */
export function refuseCrossSiteSignIn({ headers }: Request): void {
  if (headers['sec-fetch-site'] !== undefined) requireSameOrigin(headers, false);
}

/**
 * Refuses a request that was not sent by a page of this origin. If `mayBeTyped` is true, accepts `Sec-Fetch-Site:
 * none`, which browsers send for an address that the user typed or bookmarked.
 */
function requireSameOrigin(headers: IncomingHttpHeaders, mayBeTyped: boolean): void {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || (mayBeTyped && site === 'none')) return;
  throw crossSiteRequest(
    'A request with a session cookie must come from a page of this origin (Sec-Fetch-Site: same-origin).',
  );
}

function isEqual(sent: string | readonly string[] | undefined, expected: string): boolean {
  if (typeof sent !== 'string') return false;
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
