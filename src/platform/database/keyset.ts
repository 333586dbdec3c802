export interface PageRequest {
  /** Maximum number of items, 1 to 100. */
  readonly limit: number;
  /** Value of `next` of the previous page; null for the first page. */
  readonly after: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /**
   * Cursor of the next page: the id of the last item, and for other orders than newest first, a mark of the order and
   * the item's value in its column. Null on the last page.
   */
  readonly next: string | null;
}
