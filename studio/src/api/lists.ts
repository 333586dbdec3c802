import type { paths } from '../../generated/api';
import { type Answered, api, read } from './client';
import { download } from './download';

interface JsonList {
  readonly get: {
    readonly responses: {
      readonly 200: {
        readonly content: {
          readonly 'application/json': {
            readonly data: readonly unknown[];
            readonly next_cursor: string | null;
          };
        };
      };
    };
  };
}

/** Paths of the API that answer a list in pages. */
export type ListPath = {
  [Path in keyof paths]: paths[Path] extends JsonList ? Path : never;
}[keyof paths];

/** Type of the items of the list at a path. */
export type RowOf<Path extends ListPath> = paths[Path] extends JsonList
  ? paths[Path]['get']['responses'][200]['content']['application/json']['data'][number]
  : never;

export interface PageOf<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/** Parameters of the path or the query of a request, by name. */
export type Parameters = Readonly<Record<string, string | number>>;

/** Sends a GET to a path that is known only at run time. The types of the client accept only literal paths. */
function getAny<Body>(path: string, init: object): Answered<Body> {
  const get = api.GET as unknown as (path: string, init: object) => Answered<Body>;
  return get(path, init);
}

/** Reads a page of a list. `inPath` contains the values of the path parameters, such as `{id}`. */
export function readPage<Path extends ListPath>(
  path: Path,
  query: Parameters,
  inPath: Parameters = {},
  signal?: AbortSignal,
): Promise<PageOf<RowOf<Path>>> {
  return read(getAny<PageOf<RowOf<Path>>>(path, { params: { path: inPath, query }, signal }));
}

export interface Summary {
  readonly count: number;
  readonly currencies: readonly Readonly<Record<string, string | number | null>>[];
}

/** Reads the count and the sums of all rows that match the filters. */
export function readSummary(path: ListPath, query: Parameters): Promise<Summary> {
  return read(getAny<Summary>(`${path}/summary`, { params: { query } }));
}

/**
 * Downloads every row that matches the filters, as CSV.
 * @throws {RequestFailed} for an error response
 */
export function downloadCsv(path: string, query: Parameters, name: string): Promise<void> {
  const values = Object.entries(query).map(([key, value]) => [key, String(value)]);
  return download(`${path}?${new URLSearchParams(values).toString()}`, 'text/csv', `${name}.csv`);
}
