import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CookieOptions, Request, Response } from 'express';
import { SAFE_METHODS } from '../../core/safe-methods';
import { isLoopback } from '../config';
import { crossSiteRequest } from '../errors';

/** Cookie that holds the secret of an admin's session. With TLS its name begins with `__Secure-`. */
export const SESSION_COOKIE = 'billing_session';

/** Browsers accept a cookie with this prefix only over TLS, so that an attacker in the network cannot set it. */
const SECURE_PREFIX = '__Secure-';

const CSRF_HEADER = 'x-csrf-token';

/**
 * Returns the name under which a browser stores a cookie: with the prefix {@link SECURE_PREFIX} for a page with TLS.
 */
export function nameOfCookie(name: string, isSecure: boolean): string {
  return isSecure ? `${SECURE_PREFIX}${name}` : name;
}

/**
 * Returns the value of a cookie of the request, or null. For a page with TLS, ignores a cookie that was set without
 * TLS.
 */
export function cookieOf(headers: IncomingHttpHeaders, name: string): string | null {
  const secure = valueOf(headers, nameOfCookie(name, true));
  return secure ?? (needsSecureCookie(headers) ? null : valueOf(headers, name));
}

function valueOf({ cookie }: IncomingHttpHeaders, name: string): string | null {
  const prefix = `${name}=`;
  const pair = cookie?.split(';').find((part) => part.trimStart().startsWith(prefix));
  return pair?.trim().slice(prefix.length) ?? null;
}

export function sessionSecretOf(headers: IncomingHttpHeaders): string | null {
  return cookieOf(headers, SESSION_COOKIE);
}

/** Sets the session cookie of the browser; clears it if the session is null. */
export function setSessionCookie(
  { request, response }: { readonly request: Request; readonly response: Response },
  session: { readonly secret: string; readonly expiresInMs: number } | null,
): void {
  const options = {
    httpOnly: true,
    sameSite: 'strict',
    path: '/v1',
    secure: needsSecureCookie(request.headers),
  } as const satisfies CookieOptions;
  const name = nameOfCookie(SESSION_COOKIE, options.secure);
  if (session === null) response.clearCookie(name, options);
  else response.cookie(name, session.secret, { ...options, maxAge: session.expiresInMs });
}

/** Returns false only for a page on loopback without TLS, because some browsers store no secure cookie there. */
export function needsSecureCookie({ origin, host = '' }: IncomingHttpHeaders): boolean {
  const page = origin ?? `http://${host}`;
  if (!URL.canParse(page)) return true;
  const { protocol, hostname } = new URL(page);
  return protocol !== 'http:' || !isLoopback(hostname.replaceAll(/[[\]]/g, ''));
}

/**
 * Returns the CSRF token that a page must send with each change. The token is derived from the session secret, which
 * pages cannot read, so the token need not be stored.
 */
export function csrfTokenOf(sessionSecret: string): string {
  return createHmac('sha256', sessionSecret).update('csrf').digest('base64url');
}

/**
 * Refuses a request that a page of another origin sends with the session cookie of an admin. A change needs
 * `Sec-Fetch-Site: same-origin`, which pages cannot set, and the CSRF token, which only pages of this origin can read.
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
 * Refuses a sign-in that a page of another origin sends, because it could sign the browser in to an account of the
 * attacker.
 * @throws {ProblemError} `cross_site_request`
 */
export function refuseCrossSiteSignIn({ headers }: Request): void {
  if (headers['sec-fetch-site'] !== undefined) requireSameOrigin(headers, false);
}

/**
 * Refuses a request that was not sent by a page of this origin. For an address that the user typed or bookmarked,
 * browsers send `Sec-Fetch-Site: none`; such a request is accepted if `mayBeTyped` is true.
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
