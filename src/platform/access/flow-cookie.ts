import type { CookieOptions, Request, Response } from 'express';
import { cookieOf, type CookieRequest, nameOfCookie, needsSecureCookie } from './session-cookie';

/** Cookie of a sign-in with OpenID Connect that is in progress. */
const FLOW_COOKIE = 'billing_openid';

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

/**
 * Returns the options of the cookie. `sameSite` is `lax`, because the provider redirects from another site, and
 * browsers then send no `strict` cookie.
 */
function optionsOf(request: CookieRequest) {
  return {
    httpOnly: true,
    sameSite: 'lax',
    path: '/v1/session/oidc',
    secure: needsSecureCookie(request),
    // The cookie holds a sealed (encrypted) text, whose characters need no encoding.
    encode: String,
  } as const satisfies CookieOptions;
}

export function flowCookieOf(request: CookieRequest): string | null {
  return cookieOf(request, FLOW_COOKIE);
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
