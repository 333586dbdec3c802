import './base.css';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RequestFailed } from './api/client';
import { currentSession } from './layout/session';
import { applyStoredTheme } from './layout/theme';
import { router } from './routes';
import { loadSettings } from './settings';

const FRESH_MS = 10_000;

const client = new QueryClient({
  queryCache: new QueryCache({
    // A session that has ended leads to the sign-in page, wherever it was noticed.
    onError: (error) => {
      const isOver = error instanceof RequestFailed && error.status === 401;
      if (isOver) client.setQueryData(currentSession.queryKey, null);
    },
  }),
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
