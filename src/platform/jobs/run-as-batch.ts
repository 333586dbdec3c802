export interface BatchFailureHandlers<Item> {
  /** Called when the batch has failed. The items are then processed one by one. */
  readonly onBatchFailure: (error: unknown) => void;
  /** Called when one item has failed. If the callback throws, the remaining items are not processed. */
  readonly onItemFailure: (error: unknown, item: Item) => void | Promise<void>;
}

/**
 * Processes items as one batch, in one commit. If the batch fails, processes each item in its own commit, so that a
 * failing item affects only itself.
 * @param work processes all given items, or none
 */
export async function runAsBatch<Item>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void>,
  failed: BatchFailureHandlers<Item>,
): Promise<void> {
  if (items.length > 1) {
    try {
      await work(items);
      return;
    } catch (error) {
      failed.onBatchFailure(error);
    }
  }
  for (const item of items) {
    try {
      await work([item]);
    } catch (error) {
      await failed.onItemFailure(error, item);
    }
  }
}
