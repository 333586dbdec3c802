import type { IncomingHttpHeaders } from 'node:http';
import type { CookieOptions, Request, Response } from 'express';
import { cookieOf, nameOfCookie, needsSecureCookie } from './session-cookie';

/** Cookie of a sign-in with OpenID Connect that is in progress. */
const FLOW_COOKIE = 'billing_openid';

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

/**
 * Returns the options of the cookie. `sameSite` is `lax`, because the provider redirects from another site, and
 * browsers send no `strict` cookie with such a request.
 */
function optionsOf({ headers }: Request) {
  return {
    httpOnly: true,
    sameSite: 'lax',
    path: '/v1/session/oidc',
    secure: needsSecureCookie(headers),
    // The cookie holds a sealed (encrypted) text, whose characters need no encoding.
    encode: String,
  } as const satisfies CookieOptions;
}

export function flowCookieOf(headers: IncomingHttpHeaders): string | null {
  return cookieOf(headers, FLOW_COOKIE);
}

export function setFlowCookie(
  { request, response }: Exchange,
  { text, expiresInMs }: { readonly text: string; readonly expiresInMs: number },
): void {
  const options = optionsOf(request);
  const name = nameOfCookie(FLOW_COOKIE, options.secure);
  response.cookie(name, text, { ...options, maxAge: expiresInMs });
}

export function clearFlowCookie({ request, response }: Exchange): void {
  const options = optionsOf(request);
  response.clearCookie(nameOfCookie(FLOW_COOKIE, options.secure), options);
}
