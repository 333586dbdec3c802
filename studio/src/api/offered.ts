import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from './client';
import { shorten } from '../format/text';
import { type PageOf, readPage, type RowOf } from './lists';

const PAGE_SIZE = 100;
const PAGES_READ = 10;

type OfferedPath = '/v1/meters' | '/v1/plans';

/** Objects that a form offers, newest first. */
export interface Offered<Row> {
  readonly rows: readonly Row[];
  /** Text for the reader if there are more objects than were read; null if these are all. */
  readonly limit: string | null;
}

/** Returns a plan as an option of a select, always with its whole code. */
export const planOption = ({ id, name, code }: Schemas['PlanDto']): readonly [string, string] => [
  id,
  `${shorten(name, 40)} (${code})`,
];

/** Reads the newest objects, up to {@link PAGES_READ} pages. Reads plans of all currencies: the API has no filter for them. */
function useOffered<Path extends OfferedPath>(path: Path): UseQueryResult<Offered<RowOf<Path>>> {
  return useQuery({
    queryKey: ['offered', path],
    queryFn: async () => {
      const rows: RowOf<Path>[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_READ; page += 1) {
        const query = { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
        const answer: PageOf<RowOf<Path>> = await readPage(path, query);
        rows.push(...answer.data);
        cursor = answer.next_cursor;
        if (cursor === null) return { rows, limit: null };
      }
      const name = path === '/v1/meters' ? 'meters' : 'plans';
      return { rows, limit: `Only the newest ${rows.length} ${name} were read.` };
    },
  });
}

export const useOfferedPlans = (): UseQueryResult<Offered<Schemas['PlanDto']>> =>
  useOffered('/v1/plans');

export const useOfferedMeters = (): UseQueryResult<Offered<Schemas['MeterDto']>> =>
  useOffered('/v1/meters');
