import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api, read, RequestFailed, setSession } from '../api/client';
import type { CurrentSession } from '../api/objects';

/** The session of the admin whose pages are shown. */
export interface ShownSession extends CurrentSession {
  /** Set after the service has ended the session. The pages and their input stay until somebody signs in again. */
  readonly hasEnded?: true;
}

const OWN = 'session';

/** Number of times that a session began or ended here. An answer that was requested before the last time is outdated. */
let changes = 0;

const isOfPages = ({ queryKey }: { readonly queryKey: readonly unknown[] }): boolean =>
  queryKey[0] !== OWN;

const ended = (session: ShownSession | null | undefined): ShownSession | null =>
  session ? { ...session, hasEnded: true } : null;

async function readSession(client: QueryClient): Promise<ShownSession | null> {
  const shown = (): ShownSession | null => client.getQueryData<ShownSession | null>([OWN]) ?? null;
  const former = shown();
  const changesBefore = changes;
  try {
    const session = await read(api.GET('/v1/session'));
    if (changes !== changesBefore) return shown();
    setSession(session);
    if (former && former.admin.id !== session.admin.id) {
      // The cached data was read with the rights of another admin.
      client.removeQueries({ predicate: isOfPages });
    }
    return session;
  } catch (error) {
    if (changes !== changesBefore) return shown();
    if (error instanceof RequestFailed && error.status === 401) return ended(former);
    throw error;
  }
}

/** The session of this browser, or null before a sign-in. */
export const currentSession = queryOptions({
  queryKey: [OWN],
  staleTime: Infinity,
  queryFn: ({ client }) => readSession(client),
  // Somebody may have signed in again in another tab.
  refetchOnWindowFocus: ({ state }) => (state.data?.hasEnded === true ? 'always' : false),
});

/** Marks the session as ended. The pages stay, behind a dialog that asks for a sign-in. */
export function endSession(cache: QueryClient): void {
  changes += 1;
  cache.setQueryData(currentSession.queryKey, ended);
}

/** Removes the session, the pages and their data. */
export function leave(cache: QueryClient): void {
  changes += 1;
  setSession(null);
  cache.removeQueries({ predicate: isOfPages });
  cache.setQueryData(currentSession.queryKey, null);
}

/** Shows the pages after a sign-in. If the same admin has signed in again, the pages and their input stay. */
export function begin(cache: QueryClient, session: CurrentSession): void {
  const former = cache.getQueryData(currentSession.queryKey);
  changes += 1;
  setSession(session);
  if (former?.admin.id !== session.admin.id) cache.removeQueries({ predicate: isOfPages });
  cache.setQueryData(currentSession.queryKey, session);
  void cache.invalidateQueries({ predicate: isOfPages });
}

/** Reads the session again, because another session has begun in this browser. */
export async function readAgain(cache: QueryClient): Promise<void> {
  await cache.query({ ...currentSession, staleTime: 0 });
}
