import type { GrantedScope, Scope } from './scopes';

/**
 * Scope that a caller needs, in addition to `events:read`, to read the events about a resource. Events about resources
 * that are not listed need no additional scope.
 */
const NEEDED_SCOPES: Readonly<Record<string, Scope>> = {
  api_key: 'keys:read',
  second_factor: 'studio:read',
  session: 'studio:read',
  studio_admin: 'studio:read',
  studio_settings: 'studio:read',
};

/** Returns the resources whose events a caller with these scopes may not read. */
export function hiddenResources(scopes: ReadonlySet<GrantedScope>): readonly string[] {
  return Object.entries(NEEDED_SCOPES).flatMap(([resource, scope]) =>
    scopes.has(scope) ? [] : [resource],
  );
}

/** Returns true if the type of an event, such as `api_key.created`, belongs to one of the hidden resources. */
export function isHiddenType(type: string, hidden: readonly string[]): boolean {
  return hidden.includes(type.slice(0, type.indexOf('.')));
}

/** Returns true if a caller with these scopes may read the events of a type, such as `api_key.created`. */
export function mayReadEvents(type: string, scopes: ReadonlySet<GrantedScope>): boolean {
  return scopes.has('events:read') && !isHiddenType(type, hiddenResources(scopes));
}
