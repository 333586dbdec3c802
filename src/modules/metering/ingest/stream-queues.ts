import { ConcurrencyLimiter } from '../../../platform/concurrency';
import { type OnBusy, streamKey } from '../store/usage-streams';
import type { FastPathOutcome, NotShared } from './append-outcome';
import { type QueuedRequest, WriteQueue } from './write-queue';

const MAX_QUEUES = 100;

/** Stores requests together. Returns the outcome of each, or the reason why it was skipped. */
export type Append = (
  group: readonly QueuedRequest[],
  onBusy: OnBusy,
) => Promise<readonly FastPathOutcome[]>;

interface StreamQueue {
  readonly streams: ReadonlySet<string>;
  readonly requests: WriteQueue;
}

/**
 * Queues of requests that wait for locks outside the shared commits of `IngestBatcher`. There is one queue for each set
 * of streams (a stream: one customer, one event name). The requests of a queue have common commits, so a queue uses one
 * connection.
 */
export class StreamQueues {
  private readonly queues = new Map<string, StreamQueue>();
  /**
   * Queues with a request that waited too long for a lock. A queue stays blocked until it stores events or is empty.
   */
  private readonly blocked = new Set<StreamQueue>();
  private readonly waits: ConcurrencyLimiter;
  /** Limits the commits of blocked queues. Their next wait is often as long as the lock timeout. */
  private readonly longWaits: ConcurrencyLimiter;
  private readonly allWaits: ConcurrencyLimiter;

  /**
   * Each parameter is a maximum number of commits that wait for locks at the same time.
   * @param maxWaiting for queues that are not blocked
   * @param maxBlocked for blocked queues
   * @param maxOfBoth for all queues together
   */
  constructor(
    private readonly append: Append,
    maxWaiting: number,
    maxBlocked = maxWaiting,
    maxOfBoth = maxWaiting + maxBlocked,
  ) {
    this.waits = new ConcurrencyLimiter(maxWaiting);
    this.longWaits = new ConcurrencyLimiter(maxBlocked);
    this.allWaits = new ConcurrencyLimiter(maxOfBoth);
  }

  /** Returns true if a request would probably wait too long for a lock, because earlier requests for its streams do. */
  isBlocked(request: QueuedRequest): boolean {
    return this.blocked.size > 0 && this.blockedQueueOf(streamsOf(request)) !== undefined;
  }

  /**
   * Returns true if another request probably holds a lock on a stream of this request while it waits too long for a
   * lock.
   */
  isHeld(request: QueuedRequest): boolean {
    return this.blocked.size > 0 && this.holderOf(streamsOf(request)) !== undefined;
  }

  add(request: QueuedRequest, reason: NotShared): void {
    const streams = streamsOf(request);
    const blocked =
      this.blocked.size > 0
        ? (this.blockedQueueOf(streams) ?? (reason === 'busy' ? this.holderOf(streams) : undefined))
        : undefined;
    const queue = blocked ?? this.queueOf(streams);
    if (reason === 'timeout') this.blocked.add(queue);
    queue.requests.add(request);
  }

  private isStillBlocked(queue: StreamQueue): boolean {
    if (queue.requests.isIdle) this.blocked.delete(queue);
    return this.blocked.has(queue);
  }

  /** Returns the blocked queue of exactly this set of streams, or of a single stream of the set. */
  private blockedQueueOf(streams: readonly string[]): StreamQueue | undefined {
    for (const key of [keyOf(streams), ...streams]) {
      const queue = this.queues.get(key);
      if (queue !== undefined && this.isStillBlocked(queue)) return queue;
    }
    return undefined;
  }

  private holderOf(streams: readonly string[]): StreamQueue | undefined {
    for (const queue of this.blocked) {
      if (this.isStillBlocked(queue) && streams.some((stream) => queue.streams.has(stream)))
        return queue;
    }
    return undefined;
  }

  private queueOf(streams: readonly string[]): StreamQueue {
    const existing = this.queues.get(keyOf(streams));
    if (existing !== undefined) return existing;
    if (this.queues.size >= MAX_QUEUES) {
      for (const [key, queue] of this.queues) {
        if (!queue.requests.isIdle) continue;
        this.queues.delete(key);
        this.blocked.delete(queue);
      }
    }
    const created: StreamQueue = {
      streams: new Set(streams),
      requests: new WriteQueue((group, isRetry) => this.write(created, group, isRetry), null),
    };
    this.queues.set(keyOf(streams), created);
    return created;
  }

  private async write(
    queue: StreamQueue,
    group: readonly QueuedRequest[],
    isRetry: boolean,
  ): Promise<readonly FastPathOutcome[]> {
    const limiter = this.blocked.has(queue) ? this.longWaits : this.waits;
    // A retry waits for no turn: it ends soon.
    const outcomes = isRetry
      ? await this.append(group, 'hurry')
      : await limiter.run(() => this.allWaits.run(() => this.append(group, 'wait')));
    if (outcomes.some((outcome) => outcome !== 'busy')) this.blocked.delete(queue);
    return outcomes;
  }
}

/** Returns the keys of the streams of a request, in ascending order. */
function streamsOf({ events }: QueuedRequest): readonly string[] {
  return [...new Set(events.map(streamKey))].sort();
}

function keyOf(streams: readonly string[]): string {
  return streams.join('\n');
}
