import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

/** Codes of the client library for claims of an ID token that do not fit the sign-in. */
const CLAIM_FAULTS: ReadonlySet<string | undefined> = new Set([
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
]);

/**
 * OAuth errors (RFC 6749, 5.2) with which a provider rejects this client itself: its credentials, its rights or the
 * kind of its request. The code of the sign-in is not the cause.
 */
const CLIENT_FAULTS: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
]);

/** Details that the client library adds to its errors. Each error has some of them. */
interface Details {
  /** Claims of the ID token. */
  readonly claims?: unknown;
  /** Query of the URL to which the provider redirected the browser. */
  readonly parameters?: unknown;
  /** Header of the ID token. */
  readonly header?: unknown;
  readonly signature?: unknown;
  /** Keys of the provider that fit the ID token. */
  readonly candidates?: readonly unknown[];
}

/**
 * Returns true if the provider refused the sign-in, or if the redirect or the claims do not belong to the sign-in.
 * Outdated metadata or keys of the provider are not the cause of such errors.
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof AuthorizationResponseError) return true;
  if (error instanceof ResponseBodyError) return !CLIENT_FAULTS.has(error.error);
  if (!(error instanceof ClientError)) return false;
  if (CLAIM_FAULTS.has(error.code)) return true;
  const details = detailsOf(error);
  // Several keys fit, because the ID token does not name its key.
  if (details?.candidates !== undefined) return details.candidates.length > 0;
  if (error.code !== 'OAUTH_INVALID_RESPONSE') return false;
  // The error about a missing code has no details.
  return details === null || details.claims !== undefined || details.parameters !== undefined;
}

/** Returns true if the provider gets too many requests. Outdated metadata or keys of the provider are not the cause. */
export function isOverload(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return error.cause instanceof Response && error.cause.status === 429;
}

/**
 * Returns true if an answer of the provider cannot be trusted:
 * - The signature of the ID token is wrong.
 * - The claims are about another person.
 * - The provider refuses the credentials or the request of this client. Outdated metadata or keys may be the cause. For
 *   example, the metadata may name a former address of the provider.
 */
export function isUntrusted(error: unknown): boolean {
  if (error instanceof WWWAuthenticateChallengeError) return true;
  if (error instanceof ResponseBodyError) return CLIENT_FAULTS.has(error.error);
  if (!(error instanceof ClientError)) return false;
  if (error.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') return true;
  const details = detailsOf(error);
  if (details === null || details.candidates !== undefined) return false;
  return details.signature !== undefined || details.header !== undefined;
}

function detailsOf({ cause }: ClientError): Details | null {
  return cause instanceof Error ? ((cause.cause as Details | undefined) ?? null) : null;
}
