import { defineProblem } from '../../platform/errors';

export const sessionNotFound = defineProblem({
  code: 'session_not_found',
  kind: 'not_found',
  title: 'There is no such session',
  meaning: 'The id in the path is not the id of a session that the caller may see.',
  detail: (id: string) => `There is no session ${JSON.stringify(id)}.`,
});

export const adminSessionRequired = defineProblem({
  code: 'admin_session_required',
  kind: 'forbidden',
  title: 'This is for signed-in admins',
  meaning:
    'Only an admin has a second factor. Sign in with `POST /v1/session`, on a service with `AUTH=required`.',
  detail: () => 'The caller is not a signed-in admin. Sign in with POST /v1/session.',
});

export const signInFailed = defineProblem({
  code: 'sign_in_failed',
  kind: 'unauthenticated',
  title: 'The email or the password is wrong',
  meaning:
    'No active admin has this email and password. The answer is the same for an unknown email, a wrong password, an inactive admin, and a password hash of an unknown form or too high a cost.',
  detail: () => 'The email or the password is wrong.',
});

export const secondFactorRequired = defineProblem({
  code: 'second_factor_required',
  kind: 'unauthenticated',
  title: 'The code of the second factor is missing',
  meaning:
    'Email and password are right, but the admin has a second factor. Repeat the request with `totp_code` or `recovery_code`. This refusal does not count as an attempt.',
  detail: () => 'Send the request again with totp_code or recovery_code.',
});

export const secondFactorNotFound = defineProblem({
  code: 'second_factor_not_found',
  kind: 'not_found',
  title: 'The admin has no second factor',
  meaning:
    'The admin has not enabled a second factor, or has not begun to enrol. Begin with `POST /v1/second-factor`.',
  detail: (adminId: string) => `The studio admin ${adminId} has no second factor.`,
});

export const secondFactorEnabled = defineProblem({
  code: 'second_factor_enabled',
  kind: 'conflict',
  title: 'The admin has a second factor already',
  meaning: 'An admin has one second factor. Disable it before enrolling another one.',
  detail: () => 'You have a second factor. Disable it before you enrol another one.',
});

export const secondFactorFailed = defineProblem({
  code: 'second_factor_failed',
  kind: 'unauthenticated',
  title: 'The code of the second factor is wrong',
  meaning:
    'The code is wrong or out of date, or the code or recovery code was used before. This counts as an attempt to sign in. Wait for the next code of the authenticator.',
  detail: () => 'The code is wrong, out of date, or was used before. Wait for the next code.',
});

export const openIdDisabled = defineProblem({
  code: 'openid_disabled',
  kind: 'not_found',
  title: 'There is no OpenID provider',
  meaning: 'The service runs without `OIDC_ISSUER`. Sign in with email and password.',
  detail: () => 'This service has no OpenID provider. Sign in with email and password.',
});

export const openIdUnavailable = defineProblem({
  code: 'openid_unavailable',
  kind: 'unavailable',
  title: 'The OpenID provider is unavailable',
  meaning:
    'The OpenID provider cannot be reached or used, is not the issuer in `OIDC_ISSUER`, or has a new key: try again. The log of the service has the reason.',
  detail: () => 'The OpenID provider is unavailable. Try again, or ask who runs this service.',
});

export const openIdRefused = defineProblem({
  code: 'openid_refused',
  kind: 'unauthenticated',
  title: 'The OpenID provider did not sign the person in',
  meaning:
    'The provider reported an error, or its answer is not valid: its issuer, audience, nonce, time or signature is wrong, or its code was used before. The log of the service has the reason.',
  detail: () => 'The OpenID provider did not sign you in. Sign in again: GET /v1/session/oidc.',
});

export const openIdExpired = defineProblem({
  code: 'openid_expired',
  kind: 'unauthenticated',
  title: 'The sign-in cannot be continued',
  meaning:
    'The sign-in was begun by another browser or more than ten minutes ago, was replaced by another one, or is finished. Begin again with `GET /v1/session/oidc`.',
  detail: () =>
    'The sign-in was begun elsewhere, has expired or is finished. Sign in again: GET /v1/session/oidc.',
});

const PERSON_FAULTS = {
  no_email: 'The OpenID provider names no email.',
  email_not_verified: 'The OpenID provider has not verified the email.',
  foreign_domain: 'The domain of the email is not allowed here.',
  no_role: 'None of your groups at the OpenID provider is assigned a role of this service.',
  unknown_admin: 'There is no account with this email.',
  inactive_admin: 'The account with this email is inactive.',
} as const;

export const openIdAdminRefused = defineProblem({
  code: 'openid_admin_refused',
  kind: 'forbidden',
  title: 'The person may not sign in here',
  meaning:
    'The OpenID provider signed in a person whom the service does not admit. `reason` is `no_email`, `email_not_verified`, `foreign_domain`, `no_role`, `unknown_admin` or `inactive_admin`.',
  occurrence: (reason: keyof typeof PERSON_FAULTS) => ({
    detail: `${PERSON_FAULTS[reason]} Ask an owner of this service.`,
    extensions: { reason },
  }),
});
