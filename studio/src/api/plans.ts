import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from './client';
import { shorten } from '../format/text';
import { type PageOf, readPage } from './lists';

const PAGE_SIZE = 100;
const PAGES_READ = 10;

/** Plans that a form offers, newest first. */
export interface OfferedPlans {
  readonly plans: readonly Schemas['PlanDto'][];
  /** Text for the reader if there are more plans than were read; null if these are all. */
  readonly limit: string | null;
}

/** Returns a plan as an option of a select, always with its whole code. */
export const planOption = ({ id, name, code }: Schemas['PlanDto']): readonly [string, string] => [
  id,
  `${shorten(name, 40)} (${code})`,
];

/** Reads the newest plans, up to {@link PAGES_READ} pages. Reads all currencies, because the API has no filter for them. */
export function useOfferedPlans(): UseQueryResult<OfferedPlans> {
  return useQuery({
    queryKey: ['offered plans'],
    queryFn: async () => {
      const plans: Schemas['PlanDto'][] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_READ; page += 1) {
        const query = { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
        const answer: PageOf<Schemas['PlanDto']> = await readPage('/v1/plans', query);
        plans.push(...answer.data);
        cursor = answer.next_cursor;
        if (cursor === null) return { plans, limit: null };
      }
      return { plans, limit: `Only the newest ${plans.length} plans were read.` };
    },
  });
}
