import { ConcurrencyLimiter } from '../../../platform/concurrency';
import { type OnBusy, streamKey } from '../store/usage-streams';
import type { FastPathOutcome, NotShared } from './append-outcome';
import { type QueuedRequest, WriteQueue } from './write-queue';

/** Maximum number of waiting commits of each kind. Each uses a connection. */
const MAX_WAITING = 4;
const MAX_QUEUES = 100;

/** Stores requests together. Returns the outcome of each, or the reason why it was skipped. */
export type Append = (
  group: readonly QueuedRequest[],
  onBusy: OnBusy,
) => Promise<readonly FastPathOutcome[]>;

interface StreamQueue {
  readonly streams: ReadonlySet<string>;
  readonly requests: WriteQueue;
  /** True after a request was added that has waited too long for a lock, until the queue stores events. */
  hasTimedOut: boolean;
}

/**
 * Queues of requests that wait for locks in commits of their own, one queue for each set of streams (a stream: one
 * customer, one event name). The requests of a queue share commits, so they use one connection.
 */
export class StreamQueues {
  private readonly queues = new Map<string, StreamQueue>();
  private readonly waits = new ConcurrencyLimiter(MAX_WAITING);
  /** For queues of requests that have waited too long. Their next wait is often as long as the lock timeout. */
  private readonly longWaits = new ConcurrencyLimiter(MAX_WAITING);

  constructor(private readonly append: Append) {}

  /** Returns true if a request would probably wait too long for a lock, because earlier ones for its streams do. */
  isBlocked(request: QueuedRequest): boolean {
    return this.queues.size > 0 && this.blockedQueueOf(streamsOf(request)) !== undefined;
  }

  /** Returns true if a request that waits too long for a lock probably holds a lock on a stream of this request. */
  isHeld(request: QueuedRequest): boolean {
    return this.holderOf(streamsOf(request)) !== undefined;
  }

  add(request: QueuedRequest, reason: NotShared): void {
    const streams = streamsOf(request);
    const holder = reason === 'busy' ? this.holderOf(streams) : undefined;
    const queue = this.blockedQueueOf(streams) ?? holder ?? this.queueOf(streams);
    if (reason === 'timeout') queue.hasTimedOut = true;
    queue.requests.add(request);
  }

  /** Returns the blocked queue of exactly these streams, or of one of them. */
  private blockedQueueOf(streams: readonly string[]): StreamQueue | undefined {
    for (const key of [keyOf(streams), ...streams]) {
      const queue = this.queues.get(key);
      if (queue !== undefined && isBlocked(queue)) return queue;
    }
    return undefined;
  }

  private holderOf(streams: readonly string[]): StreamQueue | undefined {
    for (const queue of this.queues.values()) {
      if (isBlocked(queue) && streams.some((stream) => queue.streams.has(stream))) return queue;
    }
    return undefined;
  }

  private queueOf(streams: readonly string[]): StreamQueue {
    const existing = this.queues.get(keyOf(streams));
    if (existing !== undefined) return existing;
    if (this.queues.size >= MAX_QUEUES) {
      for (const [key, { requests }] of this.queues) if (requests.isIdle) this.queues.delete(key);
    }
    const created: StreamQueue = {
      streams: new Set(streams),
      requests: new WriteQueue((group, isRetry) => this.write(created, group, isRetry), null),
      hasTimedOut: false,
    };
    this.queues.set(keyOf(streams), created);
    return created;
  }

  private async write(
    queue: StreamQueue,
    group: readonly QueuedRequest[],
    isRetry: boolean,
  ): Promise<readonly FastPathOutcome[]> {
    const limiter = queue.hasTimedOut ? this.longWaits : this.waits;
    // A retry waits for no turn: it ends soon.
    const outcomes = isRetry
      ? await this.append(group, 'hurry')
      : await limiter.run(() => this.append(group, 'wait'));
    if (outcomes.some((outcome) => outcome !== 'busy')) queue.hasTimedOut = false;
    return outcomes;
  }
}

function isBlocked({ hasTimedOut, requests }: StreamQueue): boolean {
  return hasTimedOut && !requests.isIdle;
}

/** Returns the keys of the streams of a request, in ascending order. */
function streamsOf({ events }: QueuedRequest): readonly string[] {
  return [...new Set(events.map(streamKey))].sort();
}

function keyOf(streams: readonly string[]): string {
  return streams.join('\n');
}
