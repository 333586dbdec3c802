import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';

export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** Id of the last item of the previous page; null for the first page. */
  readonly after: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Id to continue after, or null on the last page. */
  readonly next: string | null;
}

/** Returns one page, newest first. Ids sort by creation, so the primary key is the keyset. */
export async function pageById<Entity extends ObjectLiteral & { readonly id: string }>(
  query: SelectQueryBuilder<Entity>,
  request: PageRequest,
): Promise<Page<Entity>> {
  if (request.after !== null) {
    query.andWhere(`${query.alias}.id < :pageAfter`, { pageAfter: request.after });
  }
  const found = await query
    .orderBy(`${query.alias}.id`, 'DESC')
    .limit(request.limit + 1)
    .getMany();
  const items = found.slice(0, request.limit);
  const last = items.at(-1);
  return { items, next: found.length > request.limit && last !== undefined ? last.id : null };
}
