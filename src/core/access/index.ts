export { hiddenResources, isHiddenType, mayReadEvents } from './event-access';
export { ADMIN_ROLES, scopesOfAdmin, scopesOfRole } from './roles';
export type { AdminRole } from './roles';
export { GRANTED_SCOPES } from './scopes';
export type { Access, GrantedScope, Scope } from './scopes';
