export { ALL_SCOPES, SCOPES } from './scopes';
export type { Access, GrantedScope, Scope } from './scopes';
