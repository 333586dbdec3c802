import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PageOf } from '../api/lists';
import { Page, Problem } from './page';
import css from './ui.module.css';

/** Maximum number of rows of a list on the page of an object. */
export const ROWS_SHOWN = 50;

/** A query for the data of a page, as the query hooks return it. */
export interface Reading<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

export interface LoadedProps<Data> {
  readonly query: Reading<Data>;
  readonly children: (data: Data) => ReactNode;
}

/** Shows the data, a text while it loads, or the error with a button to try again. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>): ReactNode {
  const { data, error } = query;
  const hasFailed = error !== null && error !== undefined;
  return (
    <>
      <Failure query={query} />
      {data !== undefined && children(data)}
      {data === undefined && !hasFailed && <p className={css['empty']}>Loading…</p>}
    </>
  );
}

/** Shows an error within a card, with a button to try again. */
export function Failure({ query }: { readonly query: Reading<unknown> }): ReactNode {
  const { error, refetch } = query;
  if (error === null || error === undefined) return null;
  return (
    <div className={css['body']}>
      <Problem error={error} onRetry={() => void refetch()} />
    </div>
  );
}

export interface LoadedRowsProps<Row> {
  readonly query: Reading<PageOf<Row>>;
  /** The list with all rows; absent if there is none. */
  readonly all?: {
    readonly to: string;
    readonly search: Readonly<Record<string, string>>;
    readonly label: string;
  };
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** Shows the first rows of a list. If there are more, says so and links to the list with all rows. */
export function LoadedRows<Row>({ query, all, children }: LoadedRowsProps<Row>): ReactNode {
  return (
    <Loaded query={query}>
      {({ data, next_cursor }) => (
        <>
          {children(data)}
          {next_cursor !== null && (
            <p className={css['more']}>
              Only the first {data.length} are shown.{' '}
              {all !== undefined && (
                <Link to={all.to} search={all.search as never}>
                  {all.label}
                </Link>
              )}
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Page of an object that is loading or cannot be read. */
export function PendingPage({
  title,
  query,
}: {
  readonly title: string;
  readonly query: Reading<unknown>;
}): ReactNode {
  return (
    <Page title={title} query={query}>
      {(query.error ?? null) === null && <p role="status">Loading…</p>}
    </Page>
  );
}
