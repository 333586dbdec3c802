import './base.css';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RequestFailed } from './api/client';
import { currentSession, readAgain } from './layout/session';
import { applyStoredTheme } from './layout/theme';
import { router } from './routes';
import { loadSettings } from './settings';

const FRESH_MS = 10_000;
/** Refusals of a code or a password, with the status 401 as well. */
const WRONG_INPUT: readonly string[] = ['second_factor_failed', 'sign_in_failed'];

/** Handles what any request can be refused with: a session that has ended, or another one begun in this browser. */
function onRefusal(error: unknown): void {
  if (!(error instanceof RequestFailed)) return;
  const isOver = error.status === 401 && !WRONG_INPUT.includes(error.problem?.code ?? '');
  if (isOver) client.setQueryData(currentSession.queryKey, null);
  // The token for changes is that of a former session. What was typed stays, and can be sent with the present one.
  if (error.problem?.code === 'cross_site_request') void readAgain(client);
}

const client = new QueryClient({
  queryCache: new QueryCache({ onError: onRefusal }),
  mutationCache: new MutationCache({ onError: onRefusal }),
  defaultOptions: { queries: { staleTime: FRESH_MS, retry: false } },
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
