import { ADMIN_ROLES, type AdminRole } from '../../../core/access';
import { firstCharacters, printableText } from '../../../core/text';

/** Claims that the OpenID provider makes about a person. */
export type PersonClaims = Readonly<Record<string, unknown>>;

/** Rules that decide who may sign in, and with which role. */
export interface OpenIdPolicy {
  /** Email domains, in lower case. Only people whose email address is in one of these domains may sign in. */
  readonly allowedDomains: readonly string[];
  /** Name of the claim that lists the groups of a person. Null: roles do not come from the provider. */
  readonly roleClaim: string | null;
  /** Role of each group, by the name of the group. */
  readonly roles: ReadonlyMap<string, AdminRole>;
}

export interface OpenIdIdentity {
  readonly email: string;
  readonly name: string;
  /** Role that follows from the person's groups at the provider; null if no role claim is configured. */
  readonly role: AdminRole | null;
}

export type IdentityFault = 'no_email' | 'email_not_verified' | 'foreign_domain' | 'no_role';

const MAX_EMAIL_LENGTH = 254;
const MAX_NAME_LENGTH = 200;
const EMAIL = /^[^@\s\p{Cc}\p{Cs}]+@(?<domain>[^@\s\p{Cc}\p{Cs}]+)$/u;

/**
 * Characters outside ASCII that Unicode normalization or conversion to lower case turns into an ASCII character: Greek
 * question mark (`;`), Greek varia (backtick) and Kelvin sign (`k`). An email with such a character is refused. It
 * would otherwise open the account whose email has the ASCII character.
 */
const EQUAL_TO_ASCII = /[\u037e\u1fef\u212a]/;

/**
 * Joins the claims of the ID token and of the UserInfo endpoint. The ID token is signed, so its claims take precedence.
 * The two sources may have different emails. `email_verified` is therefore taken only from a source that has the joined
 * email.
 */
export function joinClaims(idToken: PersonClaims, userInfo: PersonClaims): PersonClaims {
  const joined = { ...userInfo, ...idToken };
  const verification = [idToken, userInfo].find(
    ({ email, email_verified: verified }) => verified !== undefined && email === joined['email'],
  );
  return { ...joined, email_verified: verification?.['email_verified'] };
}

/** Returns the identity of the person, or the reason why the person may not sign in. */
export function identityOf(
  claims: PersonClaims,
  policy: OpenIdPolicy,
): OpenIdIdentity | IdentityFault {
  const { email, email_verified: isVerified, name } = claims;
  if (typeof email !== 'string' || email.length > MAX_EMAIL_LENGTH) return 'no_email';
  const { domain } = EMAIL.exec(email)?.groups ?? {};
  if (domain === undefined || EQUAL_TO_ASCII.test(email)) return 'no_email';
  // Only the boolean counts, because the text "false" is truthy.
  if (isVerified !== true) return 'email_not_verified';
  if (!policy.allowedDomains.includes(domain.toLowerCase())) return 'foreign_domain';
  const role = roleOf(claims, policy);
  if (role === null && policy.roleClaim !== null) return 'no_role';
  const shownName = typeof name === 'string' ? printableText(name) : '';
  return { email, name: firstCharacters(shownName || email, MAX_NAME_LENGTH), role };
}

/**
 * Returns the role of the person. If the person's groups have several roles, returns the role with the most rights.
 * Null: no group has a role, or no role claim is configured.
 */
function roleOf(claims: PersonClaims, { roleClaim, roles }: OpenIdPolicy): AdminRole | null {
  if (roleClaim === null) return null;
  const value = claims[roleClaim];
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value];
  const held = new Set(
    groups.map((group) => (typeof group === 'string' ? roles.get(group) : undefined)),
  );
  return ADMIN_ROLES.find((role) => held.has(role)) ?? null;
}
