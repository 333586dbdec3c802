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
