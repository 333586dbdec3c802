export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** `next` of the previous page; null for the first page. */
  readonly after: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor: id of the last item, and its value in the column of the order; null on the last page. */
  readonly next: string | null;
}
