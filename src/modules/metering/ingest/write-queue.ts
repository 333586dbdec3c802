import { AsyncResource } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { invariant } from '../../../core/invariant';
import { nextTurn } from '../../../platform/concurrency';
import type { OnBusy } from '../store/usage-streams';
import type { IncomingEvent } from '../usage-store';
import type { AppendOutcome, NotShared } from './append-outcome';
import type { FastPathRequest } from './fast-path-request';
import { type Append, type QueuedRequest, takeGroup, writeApart } from './write-apart';

/** Longest wait for the next requests of clients that were just answered. */
const MAX_WAIT_MS = 2;

/**
 * Longest time for which a shard pauses while `onNotShared` stores requests whose streams were locked. Without the
 * pause, the next requests of the shard would mostly meet the same locks, or would take them before `onNotShared` does.
 */
const LONGEST_HOLD_MS = 100;

/**
 * If at least this number of events is waiting, each shard gets a commit of its own. Storing so many events takes
 * longer than a commit, so several connections are faster.
 */
const EVENTS_WORTH_A_COMMIT = 500;

const SHARED: OnBusy = { rows: 'skip', waitMs: 200 };

/**
 * Takes over a request that was skipped or waited too long for a lock, or the skipped part of a request. If it returns a
 * promise, the shard waits for that promise before it writes the next requests, at most {@link LONGEST_HOLD_MS}.
 */
export type OnNotShared = (request: QueuedRequest, reason: NotShared) => Promise<void> | undefined;

/** Requests of a shard: a part of the streams, for which at most one commit is in flight. */
interface Shard {
  readonly queue: QueuedRequest[];
  isWriting: boolean;
}

/** Collects requests into shared commits. At most one commit per shard is in flight. */
export class WriteQueue {
  private readonly shards: readonly Shard[];
  private isStarting = false;
  private readonly listeners = new Set<() => void>();
  /** Context in which commits run. Without it, they would run in the context of the request that arrived first. */
  private readonly scope = new AsyncResource('usage-write-queue');

  /**
   * @param isBlocked returns true if a request would probably wait too long for a lock. It is then passed to
   *   `onNotShared` untried
   */
  constructor(
    private readonly append: Append,
    private readonly onNotShared: OnNotShared,
    private readonly isBlocked: (request: QueuedRequest) => boolean,
    shards = 1,
  ) {
    this.shards = Array.from({ length: shards }, () => ({ queue: [], isWriting: false }));
  }

  /** Adds a request, and returns its outcome after its events are written. `onNotShared` takes skipped events over. */
  enqueue(
    events: readonly IncomingEvent[],
    fastPath: FastPathRequest | null,
  ): Promise<AppendOutcome> {
    return new Promise((resolve, reject) =>
      this.add({ events, fastPath, resolve: nextTurn(resolve), reject }),
    );
  }

  add(request: QueuedRequest): void {
    // The fast path may have divided the streams into more shards than this queue has.
    const shard = this.shards[(request.fastPath?.shard ?? 0) % this.shards.length];
    invariant(shard !== undefined, 'A write queue has a shard.');
    shard.queue.push(request);
    for (const listener of this.listeners) listener();
    if (this.isStarting || shard.isWriting) return;
    this.isStarting = true;
    // Starts in a microtask, after the other parts of the request were added.
    this.scope.runInAsyncScope(() => queueMicrotask(() => this.start()));
  }

  /**
   * Writes each shard in a commit of its own if enough events are waiting. Otherwise writes all shards in one commit,
   * as soon as no other commit is in flight.
   */
  private start(): void {
    this.isStarting = false;
    const due = this.shards.filter(({ isWriting, queue }) => !isWriting && queue.length > 0);
    const isSmall = eventsIn(due.flatMap(({ queue }) => queue)) < EVENTS_WORTH_A_COMMIT;
    if (!isSmall) for (const shard of due) void this.writeShards([shard]);
    else if (due.length > 0 && !this.shards.some(({ isWriting }) => isWriting))
      void this.writeShards(due);
  }

  /**
   * Writes as many of the waiting requests as fit into one statement. Then waits up to {@link MAX_WAIT_MS} for about
   * half as many new requests, because clients that report in a loop are answered together and soon report again.
   * Without the wait, the first new request would get a commit of its own, and all others would wait for that commit.
   */
  private async writeShards(shards: readonly Shard[]): Promise<void> {
    for (const shard of shards) shard.isWriting = true;
    const group = shards.flatMap(({ queue }) => takeGroup(queue));
    const held: Promise<void>[] = [];
    await writeApart(group, {
      append: this.append,
      onBusy: SHARED,
      isLeft: this.isBlocked,
      leave: (request, reason) => {
        const tried = this.onNotShared(request, reason);
        if (tried !== undefined) held.push(tried);
      },
    });
    if (held.length > 0) {
      const timeout = pause(LONGEST_HOLD_MS, undefined, { ref: false });
      await Promise.race([Promise.all(held), timeout]);
    }
    await this.waitFor(shards, Math.floor((group.length + requestsIn(shards)) / 2));
    for (const shard of shards) shard.isWriting = false;
    this.start();
  }

  private waitFor(shards: readonly Shard[], requests: number): Promise<void> | undefined {
    if (requestsIn(shards) >= requests) return undefined;
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.listeners.delete(listener);
        resolve();
      };
      const listener = (): void => {
        if (requestsIn(shards) >= requests) finish();
      };
      const timer = setTimeout(finish, MAX_WAIT_MS);
      this.listeners.add(listener);
    });
  }
}

function requestsIn(shards: readonly Shard[]): number {
  return shards.reduce((sum, { queue }) => sum + queue.length, 0);
}

function eventsIn(requests: readonly QueuedRequest[]): number {
  return requests.reduce((sum, { events }) => sum + events.length, 0);
}
