export interface PageRequest {
  /** Maximum number of items, 1 to 100. */
  readonly limit: number;
  /** Value of `next` of the previous page; null for the first page. */
  readonly after: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null;
}

/**
 * Returns a page of the first `limit` rows. Another page follows if there are more rows.
 * @param cursorOf returns the cursor of the page that follows a row
 */
export function pageFrom<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : cursorOf(last) };
}
