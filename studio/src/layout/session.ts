import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api, RequestFailed, setCsrfToken } from '../api/client';
import type { CurrentSession } from '../api/objects';

/** The session of this browser, or null before a sign-in. */
export const currentSession = queryOptions({
  queryKey: ['session'],
  staleTime: Infinity,
  queryFn: async (): Promise<CurrentSession | null> => {
    try {
      const { data } = await api.GET('/v1/session');
      setCsrfToken(data?.csrf_token ?? null);
      return data ?? null;
    } catch (error) {
      if (error instanceof RequestFailed && error.status === 401) return null;
      throw error;
    }
  },
});

/** Starts or ends a session, and removes cached data, which another admin may have read. */
export function showOnly(cache: QueryClient, session: CurrentSession | null): void {
  const [own] = currentSession.queryKey;
  cache.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== own });
  cache.setQueryData(currentSession.queryKey, session);
}

/** Reads the session again after another began in this browser. Resets cached data that a former admin has read. */
export async function readAgain(cache: QueryClient): Promise<void> {
  const former = cache.getQueryData(currentSession.queryKey);
  const session = await cache.query({ ...currentSession, staleTime: 0 });
  if (session?.admin.id === former?.admin.id) return;
  const [own] = currentSession.queryKey;
  await cache.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== own });
}
