import type { NextFunction, Request, Response } from 'express';
import { crossSiteRequest, scopeNotHeld, unauthenticated } from '../errors';
import { ANONYMOUS, OPEN, type Principal, principalOf, setPrincipal } from './principal';
import { refuseCrossSiteRequest, sessionSecretOf } from './session-cookie';

/**
 * Returns the caller that a credential identifies. Returns a promise only if necessary, because waiting for a promise
 * would delay every request.
 * @throws {ProblemError} `unauthenticated`
 */
export type VerifyCredential = (credential: string) => Principal | Promise<Principal>;

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

export const admitEveryone: Middleware = (request, _response, next) => {
  setPrincipal(request, OPEN);
  next();
};

interface Verifiers {
  /** Verifies the API key or token of the `Authorization` header. */
  readonly credential: VerifyCredential;
  /** Verifies the secret of a session cookie. */
  readonly session: VerifyCredential;
}

/**
 * Time after which a caller who is still sending a body is identified again. `Credentials` caches a credential for 750
 * ms. A revoked credential or a lost scope therefore takes effect within one second.
 */
const IDENTIFIED_MS = 250;

interface Identification {
  readonly identify: () => Principal | Promise<Principal>;
  /** Time of the last identification, from `performance.now()`. */
  atMs: number;
}

const IDENTIFICATION = Symbol('identification');

function identificationOf(request: Request): Identification | undefined {
  return (request as { readonly [IDENTIFICATION]?: Identification })[IDENTIFICATION];
}

/**
 * Returns middleware that identifies the caller before the body is read, so that callers without a credential cannot
 * fill the memory with bodies. An `Authorization` header takes precedence over a session cookie.
 * @param isPublic true for requests that need no credential
 */
export function authenticate(
  isPublic: (request: Request) => boolean,
  verifiers: Verifiers,
): Middleware {
  return (request, _response, next) => {
    if (isPublic(request)) {
      setPrincipal(request, ANONYMOUS);
      next();
      return;
    }
    const identification: Identification = {
      identify: () => identify(request, verifiers),
      atMs: performance.now(),
    };
    Object.assign(request, { [IDENTIFICATION]: identification });
    const principal = identification.identify();
    if (!(principal instanceof Promise)) {
      setPrincipal(request, principal);
      next();
      return;
    }
    principal.then((verified) => {
      identification.atMs = performance.now();
      setPrincipal(request, verified);
      next();
    }, next);
  };
}

/**
 * Checks during a long answer that the caller may still receive the rest of the answer.
 * @throws {ProblemError} `unauthenticated` if the credential is no longer valid
 * @throws {ProblemError} `scope_not_held` if the credential has lost a scope
 */
export async function identifyAgain(request: Request): Promise<void> {
  const present = await identificationOf(request)?.identify();
  if (present === undefined) return;
  const lost = [...principalOf(request).scopes].find((scope) => !present.scopes.has(scope));
  if (lost !== undefined) throw scopeNotHeld(lost);
}

/**
 * Middleware that identifies the caller again if reading the body took long. Meanwhile the credential may have been
 * revoked, or may have lost a scope.
 */
export const identifyAfterBody: Middleware = (request, _response, next) => {
  if (!isIdentifiedLongAgo(request)) next();
  else identifyWhileSending(request).then(() => next(), next);
};

/**
 * Identifies the caller again while the body is still arriving, and updates the principal of the request. Does nothing
 * if the caller was identified less than {@link IDENTIFIED_MS} ago.
 * @throws {ProblemError} `unauthenticated` if the credential is no longer valid
 */
export async function identifyWhileSending(request: Request): Promise<void> {
  const identification = identificationOf(request);
  if (identification === undefined || !isIdentifiedLongAgo(request)) return;
  identification.atMs = performance.now();
  setPrincipal(request, await identification.identify());
}

function isIdentifiedLongAgo(request: Request): boolean {
  const { atMs = Infinity } = identificationOf(request) ?? {};
  return performance.now() - atMs > IDENTIFIED_MS;
}

function identify(request: Request, verifiers: Verifiers): Principal | Promise<Principal> {
  const { headers } = request;
  const secret = headers.authorization === undefined ? sessionSecretOf(request) : null;
  if (secret === null) return verifiers.credential(credentialOf(request));
  refuseCrossSiteRequest(request, secret);
  return verifiers.session(secret);
}

const SCHEME = /^(bearer|basic) +([^\s]{1,1000})$/i;

/** Returns the API key or token of the `Authorization` header. With HTTP basic authentication, it is the user name. */
function credentialOf({ headers }: Request): string {
  const { authorization } = headers;
  if (authorization === undefined) throw unauthenticated('missing');
  const [, scheme = '', value = ''] = SCHEME.exec(authorization) ?? [];
  if (value === '') throw unauthenticated('malformed');
  if (scheme.toLowerCase() === 'bearer') return value;
  // Browsers also send remembered basic credentials with requests from pages of other sites.
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') {
    throw crossSiteRequest(
      'A browser sent this with HTTP basic authentication for a page of another origin. Send the key as `Authorization: Bearer`.',
    );
  }
  const [user = ''] = Buffer.from(value, 'base64').toString('latin1').split(':', 1);
  if (user === '') throw unauthenticated('malformed');
  return user;
}
