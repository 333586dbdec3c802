import { isLockTimeout, LOCK_TIMEOUT_MS } from '../../../platform/database';
import { type OnBusy, streamKey } from '../store/usage-streams';
import type { NotShared } from './append-outcome';
import { type Append, type QueuedRequest, takeGroup, writeApart } from './write-apart';

/** First try: other transactions usually hold a lock only for one commit. */
const TOGETHER: OnBusy = { rows: 'wait', waitMs: 200 };
/** Later tries: first of all queues, because many streams can be locked, and many can have become free. */
const POLL: OnBusy = { rows: 'skip', waitMs: 20 };
/** Then of each queue, because only a waiting transaction gets a lock that others take again and again. */
const ALONE: OnBusy = { rows: 'wait', waitMs: 50 };

/** A queue pauses after a try, each time for this much longer. */
const PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;
/** Maximum number of lock timeouts in each of the tries of a turn. After these, the rest waits for the next turn. */
const MAX_TIMEOUTS = 10;

/** Requests that wait for locks of the same streams (a stream: one customer, one event name). */
interface StreamQueue {
  readonly requests: WaitingRequest[];
  /** Time of the next try, like those of `performance.now()`; 0: as soon as possible. */
  dueAt: number;
  pauseMs: number;
  /** Last lock timeout; null before the first. */
  timeout: unknown;
  /** True if later requests probably wait too: a shared commit waited too long, and nothing was stored since. */
  isBlocked: boolean;
}

interface WaitingRequest extends QueuedRequest {
  readonly queue: StreamQueue;
  readonly refuseAt: number;
  /** Number of times that it alone waited too long for a lock. */
  readonly timeouts: number;
}

/**
 * Requests that a shared commit did not store because of locks, in a queue for each set of streams. One commit at a time
 * tries them again, so they use one connection, however many wait. Each is refused after {@link maxWaitMs}.
 */
export class StreamQueues {
  /** Longest wait of a request for locks. Its refusal can come one turn later. */
  maxWaitMs = LOCK_TIMEOUT_MS;
  private readonly queues = new Map<string, StreamQueue>();
  private readonly listeners: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private wakesAt = Infinity;
  private isWriting = false;
  private turnAt = 0;

  constructor(private readonly append: Append) {}

  /** Number of requests that wait, without those that are being tried. */
  get size(): number {
    return [...this.queues.values()].reduce((sum, { requests }) => sum + requests.length, 0);
  }

  /** Returns true if a request would probably wait too long for a lock, because earlier ones for its streams do. */
  isBlocked(request: QueuedRequest): boolean {
    return this.queues.size > 0 && this.blockedQueueOf(streamsOf(request)) !== undefined;
  }

  /** Adds a request. Returns a promise that is resolved when it was tried, if that is likely to be soon. */
  add(request: QueuedRequest, reason: NotShared): Promise<void> | undefined {
    const streams = streamsOf(request);
    const queue = this.blockedQueueOf(streams) ?? this.queueOf(streams);
    if (reason === 'timeout') queue.isBlocked = true;
    const refuseAt = performance.now() + this.maxWaitMs;
    queue.requests.push({ ...request, queue, refuseAt, timeouts: 0 });
    this.wake(queue.dueAt);
    if (reason === 'timeout' || queue.timeout !== null) return undefined;
    return new Promise((resolve) => this.listeners.push(resolve));
  }

  /** Returns the blocked queue of exactly these streams, or of one of them. */
  private blockedQueueOf(streams: readonly string[]): StreamQueue | undefined {
    for (const key of [streams.join('\n'), ...streams]) {
      const queue = this.queues.get(key);
      if (queue?.isBlocked === true) return queue;
    }
    return undefined;
  }

  private queueOf(streams: readonly string[]): StreamQueue {
    const key = streams.join('\n');
    const queue = this.queues.get(key) ?? {
      requests: [],
      dueAt: 0,
      pauseMs: 0,
      timeout: null,
      isBlocked: false,
    };
    this.queues.set(key, queue);
    return queue;
  }

  private wake(at: number): void {
    if (this.isWriting || at >= this.wakesAt) return;
    this.wakesAt = at;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.takeTurn(), at - performance.now());
  }

  /** Tries the requests of all queues that are due. */
  private async takeTurn(): Promise<void> {
    this.isWriting = true;
    this.wakesAt = Infinity;
    this.turnAt = performance.now();
    this.refuse();
    const due = [...this.queues.values()].filter((queue) => this.isDue(queue));
    const waiting = due.filter(({ timeout }) => timeout !== null);
    const listeners = this.listeners.splice(0);
    await this.write(
      due.filter(({ timeout }) => timeout === null),
      TOGETHER,
    );
    for (const listener of listeners) listener();
    await this.write(waiting, POLL);
    await this.writeEach(waiting);
    for (const [key, { requests }] of this.queues)
      if (requests.length === 0) this.queues.delete(key);
    this.isWriting = false;
    for (const { dueAt } of this.queues.values()) this.wake(dueAt);
  }

  private isDue({ dueAt }: StreamQueue): boolean {
    return dueAt <= this.turnAt;
  }

  private refuse(): void {
    for (const { requests, timeout } of this.queues.values()) {
      if (timeout === null) continue;
      for (const request of requests.splice(0)) {
        if (request.refuseAt <= this.turnAt) request.reject(timeout);
        else requests.push(request);
      }
    }
  }

  /** Writes queues one by one, those first that have waited longest for it. */
  private async writeEach(queues: StreamQueue[]): Promise<void> {
    const budget = { timeouts: MAX_TIMEOUTS };
    for (const queue of queues.sort((one, other) => one.dueAt - other.dueAt)) {
      if (budget.timeouts === 0) return;
      if (this.isDue(queue) && (await this.write([queue], ALONE, budget))) this.pause(queue);
    }
  }

  /**
   * Writes the requests of these queues, those first that have waited too long less often. Returns true if one is left.
   * @param budget number of lock timeouts after which the rest is left
   */
  private async write(
    queues: readonly StreamQueue[],
    onBusy: OnBusy,
    budget = { timeouts: MAX_TIMEOUTS },
  ): Promise<boolean> {
    const all = queues.flatMap(({ requests }) => requests.splice(0));
    all.sort((one, other) => one.timeouts - other.timeouts);
    const fast = all.filter(({ fastPath }) => fastPath !== null);
    const slow = all.filter(({ fastPath }) => fastPath === null);
    let lastTimeout: unknown = null;
    let isAnyLeft = false;
    const append: Append<WaitingRequest> = async (group, how) => {
      try {
        const outcomes = await this.append(group, how);
        for (const [at, { queue }] of group.entries()) {
          if (typeof outcomes[at] !== 'string') queue.isBlocked = false;
        }
        return outcomes;
      } catch (error) {
        if (isLockTimeout(error)) {
          lastTimeout = error;
          budget.timeouts -= 1;
        }
        throw error;
      }
    };
    const leave = (request: WaitingRequest, reason: NotShared, timeout: unknown): void => {
      if (reason === 'outdated') {
        slow.push({ ...request, fastPath: null });
        return;
      }
      isAnyLeft = true;
      const { queue } = request;
      queue.timeout = lastTimeout ?? queue.timeout;
      queue.requests.push({ ...request, timeouts: request.timeouts + (timeout === null ? 0 : 1) });
      if (timeout !== null) this.pause(queue);
    };
    const isLeft = (): boolean => budget.timeouts === 0;
    for (const requests of [fast, slow]) {
      while (requests.length > 0)
        await writeApart(takeGroup(requests), { append, onBusy, isLeft, leave });
    }
    return isAnyLeft;
  }

  private pause(queue: StreamQueue): void {
    if (!this.isDue(queue)) return;
    queue.pauseMs = Math.min(MAX_PAUSE_MS, queue.pauseMs + PAUSE_MS);
    queue.dueAt = performance.now() + queue.pauseMs;
  }
}

/** Returns the keys of the streams of a request, in ascending order. */
function streamsOf({ events }: QueuedRequest): readonly string[] {
  return [...new Set(events.map(streamKey))].sort();
}
