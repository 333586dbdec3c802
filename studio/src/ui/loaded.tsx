import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PageOf } from '../api/lists';
import { Page, Problem } from './page';
import css from './ui.module.css';

/** Rows that a page of an object reads of each list. */
export const ROWS_SHOWN = 50;

/** A request for the data of a page, as the hooks of queries return it. */
export interface Reading<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

export interface LoadedProps<Data> {
  readonly query: Reading<Data>;
  readonly children: (data: Data) => ReactNode;
}

/** Shows what was read, that it is loading, or why it could not be read, with a way to try again. */
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

/** Says within a card why something could not be read, with a way to try again. */
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
  /** The list that shows all rows, where there is one. */
  readonly all?: {
    readonly to: string;
    readonly search: Readonly<Record<string, string>>;
    readonly label: string;
  };
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** Shows the first rows of a list. Says so when there are more, with a link to all of them. */
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

/** Page of an object that is not there yet, or cannot be read. */
export function PendingPage({
  title,
  query: { error, refetch },
}: {
  readonly title: string;
  readonly query: Reading<unknown>;
}): ReactNode {
  return (
    <Page title={title}>
      {error === null || error === undefined ? (
        <p role="status">Loading…</p>
      ) : (
        <Problem error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}
