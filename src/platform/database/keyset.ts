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
