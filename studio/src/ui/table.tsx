import { hashKey, useInfiniteQuery } from '@tanstack/react-query';
import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { Problem } from './page';
import css from './ui.module.css';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
  /** Text for the tooltip of a cell that may be cut off. By default, the cell itself if it is a text. */
  readonly full?: (row: Row) => string;
  /** Name of the API's sort order for this column. */
  readonly sort?: string;
  /** True: the first click sorts in ascending order, as for names. Otherwise it sorts in descending order. */
  readonly isSortedUpFirst?: boolean;
}

/** Order of a list. `value` is the name of the order, with a minus in front for descending order. */
export interface Sorting {
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

const classOf = (column: { readonly isNumber?: boolean }): string | undefined =>
  column.isNumber === true ? 'number' : undefined;

function Head<Row>({
  columns,
  sorting,
}: Pick<TableProps<Row>, 'columns'> & { readonly sorting?: Sorting | undefined }): ReactNode {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <HeadCell key={column.title} column={column} sorting={sorting} />
        ))}
      </tr>
    </thead>
  );
}

function HeadCell<Row>({
  column,
  sorting,
}: {
  readonly column: Column<Row>;
  readonly sorting: Sorting | undefined;
}): ReactNode {
  const { title, sort, isSortedUpFirst = false } = column;
  if (sort === undefined || sorting === undefined) {
    return (
      <th scope="col" className={classOf(column)}>
        {title}
      </th>
    );
  }
  const isDown = sorting.value === `-${sort}`;
  const isUp = sorting.value === sort;
  const isNextUp = isDown || (!isUp && isSortedUpFirst);
  return (
    <th
      scope="col"
      className={classOf(column)}
      aria-sort={isDown ? 'descending' : isUp ? 'ascending' : 'none'}
    >
      <button
        type="button"
        className={css['sort']}
        onClick={() => sorting.onChange(isNextUp ? sort : `-${sort}`)}
      >
        {title} <span aria-hidden="true">{isDown ? '↓' : isUp ? '↑' : '↕'}</span>
      </button>
    </th>
  );
}

function Cells<Row>({
  columns,
  row,
}: Pick<TableProps<Row>, 'columns'> & { readonly row: Row }): ReactNode {
  return columns.map((column) => {
    const cell = column.cell(row);
    const full = column.full?.(row) ?? (typeof cell === 'string' ? cell : undefined);
    return (
      <td key={column.title} className={classOf(column)} title={full} data-title={column.title}>
        {cell}
      </td>
    );
  });
}

/** A table of few rows. */
export function SmallTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  empty = 'None.',
}: TableProps<Row> & { readonly empty?: string }): ReactNode {
  if (rows.length === 0) return <p className={css['empty']}>{empty}</p>;
  return (
    <div className={css['scroll']} tabIndex={0} role="region" aria-label={`${label}, table`}>
      <table>
        <Head columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <Cells columns={columns} row={row} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ROW_PIXELS = 36;
/** Rows drawn above and below the screen. A screen of 1,000 pixels then has at most 52 rows in the document. */
const ROWS_BEYOND_SCREEN = 8;
const ROWS_LEFT_BEFORE_NEXT_PAGE = 30;
const PAGE_LIMIT = 100;
/** Time for which the rows of a list stay cached after the user has left the list. */
const KEPT_MS = 30 * 60_000;

interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

interface ListQuery {
  readonly limit: number;
  readonly cursor?: string;
}

export interface ListProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  readonly queryKey: readonly unknown[];
  /** @param signal aborts the request once its answer is not needed any more */
  readonly load: (query: ListQuery, signal: AbortSignal) => Promise<ListPage<Row>>;
  /** False while the list cannot be read, because a filter has a fault. */
  readonly isReadable: boolean;
  readonly empty: ReactNode;
  readonly sorting?: Sorting | undefined;
  /** Returns the part above the list, with the text that counts its rows. `isRead` is false while the rows are unknown. */
  readonly header: (count: string, isRead: boolean) => ReactNode;
  /** Names of one and of several rows, for the count. */
  readonly nouns: readonly [one: string, several: string];
}

/** Heights of drawn rows, by list. If a list is opened again, the rows above the screen have the same heights. */
const drawnHeights = new Map<string, VirtualItem[]>();

let isPrinting = false;

function subscribeToPrinting(listener: () => void): () => void {
  const begin = (): void => {
    isPrinting = true;
    listener();
  };
  const end = (): void => {
    isPrinting = false;
    listener();
  };
  addEventListener('beforeprint', begin);
  addEventListener('afterprint', end);
  return () => {
    removeEventListener('beforeprint', begin);
    removeEventListener('afterprint', end);
  };
}

/** A list of any length. Reads more pages when the user scrolls, and draws only the rows on the screen. Prints all rows that were read. */
export function List<Row>(props: ListProps<Row>): ReactNode {
  const { label, columns, keyOf, load, isReadable, empty, nouns, sorting, header } = props;
  const queryKey = ['list', label, ...props.queryKey];
  const listKey = hashKey(queryKey);
  const query = useInfiniteQuery({
    queryKey,
    enabled: isReadable,
    gcTime: KEPT_MS,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      load({ limit: PAGE_LIMIT, ...(pageParam !== null && { cursor: pageParam }) }, signal),
    getNextPageParam: (page) => page.next_cursor,
  });
  const { hasNextPage, fetchNextPage, isFetching, isFetchNextPageError, isError } = query;
  const rows = useMemo(() => query.data?.pages.flatMap(({ data }) => data) ?? [], [query.data]);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PIXELS,
    overscan: ROWS_BEYOND_SCREEN,
    initialMeasurementsCache: drawnHeights.get(listKey) ?? [],
  });
  useEffect(
    () => () => {
      drawnHeights.set(listKey, virtual.takeSnapshot());
    },
    [listKey, virtual],
  );
  const isPrinted = useSyncExternalStore(subscribeToPrinting, () => isPrinting);
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const isNearEnd = last >= rows.length - ROWS_LEFT_BEFORE_NEXT_PAGE;
  useEffect(() => {
    // While all pages are read again, the next one would replace this request, and the rows would stay outdated.
    if (isNearEnd && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isNearEnd, hasNextPage, isFetching, isError, fetchNextPage]);
  const before = isPrinted ? 0 : (shown[0]?.start ?? 0);
  const after = isPrinted ? 0 : virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const drawn = isPrinted ? rows.keys() : shown.map(({ index }) => index);
  const isRead = query.data !== undefined;
  const counted = `${rows.length}${hasNextPage ? '+' : ''} ${nouns[rows.length === 1 ? 0 : 1]}`;
  const isLoading = isReadable && !isRead && !isError;
  return (
    <>
      {header(isRead ? counted : isLoading ? 'Loading…' : '', isRead)}
      {!isFetchNextPageError && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      <section className={css['card']} aria-label={label}>
        {rows.length === 0 && (isRead || !isReadable) && (
          <div className={css['empty']}>{empty}</div>
        )}
        <div
          ref={box}
          className={`${css['scroll'] ?? ''} ${css['tall'] ?? ''}`}
          hidden={rows.length === 0}
          tabIndex={0}
          role="region"
          aria-label={`${label}, table`}
          data-scroll-restoration-id={label}
        >
          <table aria-rowcount={hasNextPage ? -1 : rows.length + 1}>
            <Head columns={columns} sorting={sorting} />
            <tbody>
              <Space pixels={before} />
              {[...drawn].map((index) => {
                const row = rows[index];
                if (row === undefined) return null;
                return (
                  <tr
                    key={keyOf(row)}
                    ref={virtual.measureElement}
                    data-index={index}
                    aria-rowindex={index + 2}
                  >
                    <Cells columns={columns} row={row} />
                  </tr>
                );
              })}
              <Space pixels={after} />
            </tbody>
          </table>
        </div>
        {isFetching && hasNextPage && last === rows.length - 1 && (
          <p className={css['more']} role="status">
            Loading…
          </p>
        )}
        {isFetchNextPageError && (
          <div className={css['body']}>
            <Problem error={query.error} onRetry={() => void fetchNextPage()} />
          </div>
        )}
      </section>
    </>
  );
}

/** Takes the space of rows that are not drawn. React sets the height as a property, which the content security policy allows. */
function Space({ pixels }: { readonly pixels: number }): ReactNode {
  return pixels > 0 ? <tr aria-hidden="true" style={{ height: pixels }} /> : null;
}
