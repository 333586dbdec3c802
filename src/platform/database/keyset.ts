export interface PageRequest {
  /** Maximum number of items, 1 to 100. */
  readonly limit: number;
  /** Value of `next` of the previous page; null for the first page. */
  readonly after: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /**
   * Cursor of the next page; null on the last page. In a list sorted newest first, it is the id of the last item. In a
   * list sorted otherwise, it also contains a short hash of the order and usually the value by which the item is
   * sorted.
   */
  readonly next: string | null;
}
