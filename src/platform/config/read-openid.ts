import type { AdminRole } from '../../core/access';
import { ConfigurationError, type SettingName, type SettingsReader } from './settings-reader';

export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUrl: string;
  readonly allowedDomains: readonly string[];
  readonly roleClaim: string | null;
  readonly roles: ReadonlyMap<string, AdminRole>;
  readonly createsUnknownAdmins: boolean;
  readonly allowPrivateNetworks: boolean;
}

/**
 * Reads the settings of OpenID Connect. Returns null if `OIDC_ISSUER` is not set.
 * @throws {ConfigurationError} if settings are missing or contradict each other
 */
export function readOpenId(settings: SettingsReader): OpenIdSettings | null {
  const issuer = settings.optional('OIDC_ISSUER');
  const needed = <Name extends SettingName>(name: Name) => {
    const value = settings.optional(name);
    if (value !== null) return value;
    throw new ConfigurationError(`OIDC_ISSUER is set, so ${name} must be set.`);
  };
  if (issuer === null) return null;
  const roleClaim = settings.optional('OIDC_ROLE_CLAIM');
  const roles = settings.optional('OIDC_ROLES');
  if ((roleClaim === null) !== (roles === null)) {
    throw new ConfigurationError('OIDC_ROLE_CLAIM and OIDC_ROLES must be set together.');
  }
  const allowPrivateNetworks = needed('OIDC_ALLOW_PRIVATE_NETWORKS');
  if (issuer.startsWith('http:') && !allowPrivateNetworks) {
    throw new ConfigurationError(
      'OIDC_ISSUER is on loopback, so OIDC_ALLOW_PRIVATE_NETWORKS must be true.',
    );
  }
  return {
    issuer,
    clientId: needed('OIDC_CLIENT_ID'),
    clientSecret: needed('OIDC_CLIENT_SECRET'),
    redirectUrl: `${needed('PUBLIC_URL')}/v1/session/oidc/callback`,
    allowedDomains: needed('OIDC_ALLOWED_DOMAINS'),
    roleClaim,
    roles: roles ?? new Map<string, AdminRole>(),
    createsUnknownAdmins: needed('OIDC_UNKNOWN_ADMINS') === 'create',
    allowPrivateNetworks,
  };
}
