import { ALL_SCOPES, type GrantedScope, type Scope } from './scopes';

export const ADMIN_ROLES = ['owner', 'admin', 'support', 'viewer'] as const;
export type AdminRole = (typeof ADMIN_ROLES)[number];

/** Scopes that only owners have, because they change who has access: the API keys and the admins. */
const OWNERS_ONLY: ReadonlySet<Scope> = new Set(['keys:write', 'studio:write']);

/** Scopes that show who has access, who changed what, and the metrics. Only owners and admins have them. */
const NOT_FOR_STAFF: ReadonlySet<Scope> = new Set([
  'audit:read',
  'keys:read',
  'metrics:read',
  'studio:read',
]);

const READS = ALL_SCOPES.filter((scope) => scope.endsWith(':read') && !NOT_FOR_STAFF.has(scope));

/** Scopes of the role `viewer`. All other roles have them too. `sessions:write` lets admins end their own sessions. */
const VIEWER: readonly Scope[] = [...READS, 'sessions:write'];

/** Scopes of an admin who must enrol a second factor before doing anything else. */
const ENROLMENT: readonly Scope[] = ['sessions:read', 'sessions:write'];

const SCOPES_OF_ROLE: Readonly<Record<AdminRole, readonly GrantedScope[]>> = {
  owner: ['*'],
  admin: ALL_SCOPES.filter((scope) => !OWNERS_ONLY.has(scope)),
  support: [...VIEWER, 'customers:write', 'refunds:write', 'subscriptions:write'],
  viewer: VIEWER,
};

export function scopesOfRole(role: AdminRole): readonly GrantedScope[] {
  return SCOPES_OF_ROLE[role];
}

/**
 * Returns the scopes of an admin. An admin who must still enrol a second factor has only the scopes for the enrolment.
 */
export function scopesOfAdmin(role: AdminRole, mustEnrol: boolean): readonly GrantedScope[] {
  return mustEnrol ? ENROLMENT : scopesOfRole(role);
}
