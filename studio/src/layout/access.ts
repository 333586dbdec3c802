import { useQuery } from '@tanstack/react-query';
import type { CurrentSession } from '../api/objects';
import { serviceSettings } from '../settings';
import { currentSession } from './session';

/** A scope of the API, as the session of an admin lists it. */
export type Scope = Exclude<CurrentSession['scopes'][number], '*'>;

/** Returns a function that checks if the session has a scope. The console hides actions that the API would refuse. */
export function useAccess(): (scope: Scope | undefined) => boolean {
  const isOpen = serviceSettings().auth === 'open';
  const { data: session } = useQuery({
    ...currentSession,
    enabled: !isOpen,
    // The page that reports a failure of this query has a button that calls this hook too, and must not repeat the query.
    retryOnMount: false,
  });
  const scopes: readonly string[] = session?.scopes ?? [];
  return (scope) => isOpen || scope === undefined || scopes.includes('*') || scopes.includes(scope);
}
