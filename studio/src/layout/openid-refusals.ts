/** Query parameter that says why a sign-in with OpenID Connect failed: the code of the error, or its field `reason`. */
const PARAMETER = 'sign_in_error';

const TEXTS: Readonly<Record<string, string>> = {
  no_email: 'The OpenID provider names no email.',
  email_not_verified: 'The OpenID provider has not verified your email.',
  foreign_domain: 'The domain of your email is not allowed here.',
  no_role: 'None of your groups has a role here.',
  unknown_admin: 'There is no account with your email.',
  inactive_admin: 'Your account is inactive.',
  openid_expired: 'The sign-in has expired, was begun elsewhere or is finished. Sign in again.',
  openid_unavailable: 'The OpenID provider is unavailable. Try again later.',
  openid_disabled: 'This service has no OpenID provider. Sign in with email and password.',
};

/** Returns the text of a failed sign-in with OpenID Connect; null if the query of the address names no failure. */
export function openIdRefusal(search: string): string | null {
  const reason = new URLSearchParams(search).get(PARAMETER);
  if (reason === null) return null;
  const text = Object.hasOwn(TEXTS, reason) ? TEXTS[reason] : undefined;
  return text ?? 'The OpenID provider did not sign you in.';
}

/** Returns the query of an address without the reason of a failed sign-in. */
export function withoutOpenIdRefusal(search: string): string {
  const query = new URLSearchParams(search);
  if (!query.has(PARAMETER)) return search;
  query.delete(PARAMETER);
  return query.size === 0 ? '' : `?${query.toString()}`;
}
