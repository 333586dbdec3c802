import type Stripe from 'stripe';
import { invalidRequest, noSuch } from './errors';

interface Listed {
  readonly id: string;
  readonly created: number;
}

interface Page {
  readonly limit?: number;
  readonly starting_after?: string;
  readonly ending_before?: string;
  readonly created?: number | Stripe.RangeQueryParam;
}

/**
 * Returns one page of a list, newest first.
 *
 * @throws Refusal (400) for a page size outside 1 to 100, two cursors, or an unknown cursor.
 */
export function page<Item extends Listed>(
  url: string,
  objects: ReadonlyMap<string, Item>,
  parameters: Page,
  matches: (item: Item) => boolean = () => true,
): Stripe.ApiList<Item> {
  const { limit = 10, starting_after: after, ending_before: before } = parameters;
  if (limit < 1 || limit > 100) {
    throw invalidRequest(`Invalid limit: ${limit} is not between 1 and 100.`, {
      code: 'parameter_invalid_integer',
      param: 'limit',
    });
  }
  if (after !== undefined && before !== undefined) {
    throw invalidRequest('You may only specify one of ending_before and starting_after.');
  }
  const newestFirst = [...objects.values()].reverse();
  const matching = (items: readonly Item[]): Item[] =>
    items.filter((item) => isIn(item.created, parameters.created) && matches(item));
  if (before !== undefined) {
    const newer = matching(newestFirst.slice(0, position(newestFirst, before, 'ending_before')));
    return list(url, newer.slice(-limit), newer.length > limit);
  }
  const start = after === undefined ? 0 : position(newestFirst, after, 'starting_after') + 1;
  const older = matching(newestFirst.slice(start));
  return list(url, older.slice(0, limit), older.length > limit);
}

function position(items: readonly Listed[], cursor: string, param: string): number {
  const index = items.findIndex(({ id }) => id === cursor);
  if (index < 0) throw noSuch('object', cursor, param);
  return index;
}

function list<Item>(url: string, data: Item[], hasMore: boolean): Stripe.ApiList<Item> {
  return { object: 'list', data, has_more: hasMore, url };
}

function isIn(created: number, range: Page['created']): boolean {
  if (range === undefined) return true;
  if (typeof range === 'number') return created === range;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range;
  return created > gt && created >= gte && created < lt && created <= lte;
}
