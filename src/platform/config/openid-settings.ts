import { ADMIN_ROLES, type AdminRole } from '../../core/access';
import { isLoopback } from './loopback';
import { boolean, commaSeparated, nonEmpty, oneOf, type Setting, setting } from './setting';

const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

function domains(text: string): readonly string[] | undefined {
  const parts = commaSeparated(text.toLowerCase());
  return parts?.every((part) => DOMAIN.test(part)) === true ? parts : undefined;
}

/**
 * Parses pairs `value=role`, separated by commas, such as `finance=admin`. `value` is a value of the claim
 * `OIDC_ROLE_CLAIM`.
 */
function rolesByValue(text: string): ReadonlyMap<string, AdminRole> | undefined {
  const pairs = (commaSeparated(text) ?? ['']).map((part) => {
    const end = part.lastIndexOf('=');
    const role = ADMIN_ROLES.find((one) => one === part.slice(end + 1).trim());
    const value = part.slice(0, Math.max(end, 0)).trim();
    return role === undefined || value === '' ? undefined : ([value, role] as const);
  });
  const valid = pairs.filter((pair) => pair !== undefined);
  return valid.length === pairs.length ? new Map(valid) : undefined;
}

/**
 * Returns the text if it is an https URL, or an http URL on loopback. Returns undefined for any other text, and for a
 * URL with credentials, a query or a fragment.
 */
function secureUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isPlain = username + password + search + hash === '';
  const isSecure =
    protocol === 'https:' ||
    (protocol === 'http:' && isLoopback(hostname.replaceAll(/[[\]]/g, '')));
  return isPlain && isSecure ? text : undefined;
}

function origin(text: string): string | undefined {
  return secureUrl(text)?.replace(/\/$/, '');
}

export const OPENID_SETTINGS = {
  PUBLIC_URL: setting({
    accepts: 'https://…, or http://… on loopback',
    meaning: 'Address at which browsers reach the service. Needed for OpenID Connect.',
    parse: origin,
  }),
  OIDC_ISSUER: setting({
    accepts: 'https://…, or http://… on loopback',
    meaning: 'Issuer of the OpenID provider. Switches the sign-in with OpenID Connect on.',
    parse: secureUrl,
  }),
  OIDC_CLIENT_ID: setting({
    ...nonEmpty,
    meaning: 'Id of this service at the provider.',
  }),
  OIDC_CLIENT_SECRET: setting({
    ...nonEmpty,
    meaning: 'Secret of this service at the provider.',
    isSecret: true,
  }),
  OIDC_ALLOWED_DOMAINS: setting({
    accepts: 'domains, comma separated',
    meaning: 'Domains of the emails that may sign in. Their subdomains may not.',
    parse: domains,
  }),
  OIDC_UNKNOWN_ADMINS: setting({
    fallback: 'refuse',
    ...oneOf('refuse', 'create'),
    meaning:
      'Sign-in of a person without an account: refuse it, or create an account without a password.',
  }),
  OIDC_ROLE_CLAIM: setting({
    ...nonEmpty,
    accepts: 'the name of a claim',
    meaning:
      'Claim that decides the role at each sign-in. Unset: the role of the account; new accounts get `viewer`.',
  }),
  OIDC_ROLES: setting({
    accepts: '`value=role`, comma separated',
    meaning: 'Role for each value of the claim. A person with none of the values is refused.',
    parse: rolesByValue,
  }),
  OIDC_ALLOW_PRIVATE_NETWORKS: setting({
    fallback: 'false',
    ...boolean,
    meaning: 'Allows a provider on loopback or a private address.',
  }),
} as const satisfies Readonly<Record<string, Setting<unknown>>>;
