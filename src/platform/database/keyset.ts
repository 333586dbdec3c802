export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** `next` of the previous page; null for the first page. */
  readonly after: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Id of the last item, and the value by which the list orders it; null on the last page. */
  readonly next: string | null;
}
