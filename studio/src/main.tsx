import './base.css';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isSessionOver, RequestFailed } from './api/client';
import { endSession, readAgain } from './layout/session';
import { applyStoredTheme } from './layout/theme';
import { router } from './routes';
import { loadSettings } from './settings';

const FRESH_MS = 10_000;

/**
 * Handles refusals that any request can get: the session has ended, or another one has begun in this browser. In the
 * latter case it resolves after the new session is read: a change that is sent again needs its CSRF token.
 */
async function onRefusal(error: unknown): Promise<void> {
  if (!(error instanceof RequestFailed)) return;
  if (isSessionOver(error)) endSession(client);
  // The CSRF token belongs to a former session. Input stays on the page, and can be sent again with the new token.
  if (error.problem?.code === 'cross_site_request') await readAgain(client).catch(() => undefined);
}

const client = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => void onRefusal(error) }),
  // The page shows the refusal of a change after this.
  mutationCache: new MutationCache({ onError: onRefusal }),
  // Requests are sent even if the browser takes itself for offline. Otherwise they would wait, and a change would be sent
  // long after the user has given up.
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: false,
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { networkMode: 'always' },
  },
});

applyStoredTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element #root.');
const show = createRoot(root);
loadSettings().then(
  () =>
    show.render(
      <StrictMode>
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </StrictMode>,
    ),
  (error: unknown) =>
    show.render(<p role="alert">The service does not answer. Reload the page. {String(error)}</p>),
);
