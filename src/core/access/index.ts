export { ADMIN_ROLES, scopesOfRole } from './roles';
export type { AdminRole } from './roles';
export { ALL_SCOPES, SCOPES } from './scopes';
export type { Access, GrantedScope, Scope } from './scopes';
