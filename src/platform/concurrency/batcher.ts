import { AsyncResource } from 'node:async_hooks';
import { invariant } from '../../core/invariant';

export type BatchOutcome<Answer> = { readonly answer: Answer } | { readonly error: unknown };

interface BatchOptions {
  readonly maxItems: number;
  /** If true, the first batch starts one turn of the event loop later, to include all items that arrive together. */
  readonly waitsForOthers?: true;
  /**
   * Maximum wait for new items after a batch, in milliseconds. Callers that were just answered usually ask again at
   * once. Without the wait, the first of these callers would get a batch of its own. The wait ends early once enough
   * items wait: half of the number of items in the batch and in the queue behind it. A single caller never waits.
   */
  readonly maxWaitForItemsMs?: number;
  /**
   * Returns true if the items of a failed batch are retried one by one. Without this function, all items of the batch
   * fail.
   */
  readonly retriesEach?: (error: unknown) => boolean;
}

interface QueuedItem<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue<Item, Answer> {
  readonly items: QueuedItem<Item, Answer>[];
  onAdded?: (() => void) | undefined;
}

/**
 * Answers items in batches. Items that arrive while a batch is processed form the next batch. Concurrent items
 * therefore share a statement, and a single item does not wait. Each key has its own sequence of batches.
 */
export class Batcher<Item, Answer> {
  private readonly queues = new Map<string, Queue<Item, Answer>>();
  /** Runs batches outside the asynchronous context of the item that started them. */
  private readonly outside = new AsyncResource('batcher');

  /** @param answerAll returns one outcome per item, in the same order. Must not throw after it has written anything. */
  constructor(
    private readonly answerAll: (
      items: readonly Item[],
    ) => Promise<readonly BatchOutcome<Answer>[]>,
    private readonly options: BatchOptions,
  ) {}

  add(item: Item, key = ''): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const queued = { item, resolve: nextTurn(resolve), reject: nextTurn(reject) };
      const queue = this.queues.get(key);
      if (queue !== undefined) {
        queue.items.push(queued);
        queue.onAdded?.();
        return;
      }
      const started: Queue<Item, Answer> = { items: [queued] };
      this.queues.set(key, started);
      this.outside.runInAsyncScope(() => void this.drain(key, started));
    });
  }

  private async drain(key: string, queue: Queue<Item, Answer>): Promise<void> {
    const { items } = queue;
    if (this.options.waitsForOthers === true) await new Promise((resolve) => setImmediate(resolve));
    while (items.length > 0) {
      const batch = items.splice(0, this.options.maxItems);
      await this.answerBatch(batch);
      await this.waitFor(queue, Math.floor((batch.length + items.length) / 2));
    }
    this.queues.delete(key);
  }

  private waitFor(queue: Queue<Item, Answer>, count: number): Promise<void> | undefined {
    const { maxWaitForItemsMs } = this.options;
    if (maxWaitForItemsMs === undefined || queue.items.length >= count) return undefined;
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        queue.onAdded = undefined;
        resolve();
      };
      const timer = setTimeout(finish, maxWaitForItemsMs);
      queue.onAdded = () => {
        if (queue.items.length >= count) finish();
      };
    });
  }

  private async answerBatch(batch: readonly QueuedItem<Item, Answer>[]): Promise<void> {
    try {
      const outcomes = await this.answerAll(batch.map(({ item }) => item));
      invariant(outcomes.length === batch.length, 'Each item has an outcome.');
      for (const [index, outcome] of outcomes.entries()) {
        if ('answer' in outcome) batch[index]?.resolve(outcome.answer);
        else batch[index]?.reject(outcome.error);
      }
    } catch (error) {
      if (batch.length > 1 && this.options.retriesEach?.(error) === true) {
        for (const queued of batch) await this.answerBatch([queued]);
      } else for (const { reject } of batch) reject(error);
    }
  }
}

/**
 * Returns a function that delays `call` to the next turn of the event loop. The next batch then starts before the
 * callers of the previous batch continue. The work of these callers often takes as long as a batch.
 */
export function nextTurn<Value>(call: (value: Value) => void): (value: Value) => void {
  return (value) => void setImmediate(call, value);
}
