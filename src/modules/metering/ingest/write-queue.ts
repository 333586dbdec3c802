import { AsyncResource } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { invariant } from '../../../core/invariant';
import { nextTurn } from '../../../platform/concurrency';
import { isLockTimeout, isOutage } from '../../../platform/database';
import type { IncomingEvent } from '../usage-store';
import {
  type AppendOutcome,
  failureOf,
  type FastPathOutcome,
  mergeParts,
  type NotShared,
  type PartOutcome,
} from './append-outcome';
import type { FastPathRequest } from './fast-path-request';
import { MAX_EVENTS_IN_MEMORY } from './staged-events';

/** Longest wait for the next requests of clients that were just answered. */
const MAX_WAIT_MS = 2;

/**
 * Longest time for which a shard (a part of the streams) pauses while `onNotShared` stores requests whose streams were
 * locked. Without the pause, the next requests of the shard would mostly meet the same locks, or would take the locks
 * first.
 */
const LONGEST_HOLD_MS = 100;

/**
 * If at least this number of events is waiting, each shard gets a commit of its own. Storing so many events takes
 * longer than a commit, so several connections are faster.
 */
const EVENTS_WORTH_A_COMMIT = 500;

/**
 * Number of lock timeouts after which the queue of one set of streams rejects the remaining requests of a group. The
 * first timeout, that of the whole group, does not count.
 */
const MAX_TIMEOUTS = 10;

export interface QueuedRequest {
  readonly events: readonly IncomingEvent[];
  /** The same events, prepared for the fast path; null on the slow path. */
  readonly fastPath: FastPathRequest | null;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
  retries: number;
}

/**
 * Writes requests together. Returns the outcome of each, or the reason why it was skipped.
 * @param hasTimedOut true if an earlier write of these requests waited too long for a lock. This write then waits
 *   briefly
 */
type WriteGroup = (
  group: readonly QueuedRequest[],
  hasTimedOut: boolean,
) => Promise<readonly FastPathOutcome[]>;

/** Takes over a request that a shared commit did not store. */
export type OnNotShared = (request: QueuedRequest, reason: NotShared) => unknown;

interface Failure {
  readonly reason: unknown;
}

/** Requests of a shard: a part of the streams, for which at most one commit is in flight. */
interface Shard {
  readonly queue: QueuedRequest[];
  isWriting: boolean;
}

/** Collects requests into shared commits. At most one commit per shard (a part of the streams) is in flight. */
export class WriteQueue {
  private readonly shards: readonly Shard[];
  private isStarting = false;
  private readonly listeners = new Set<() => void>();
  /**
   * Asynchronous context in which commits run. Without it, they would run in the context of the request that arrived
   * first.
   */
  private readonly scope = new AsyncResource('usage-write-queue');

  /**
   * @param onNotShared takes over a request that was skipped or waited too long for a lock, or the skipped part of a
   *   request. If it returns a promise, the shard waits for that promise before it writes the next requests, at most
   *   {@link LONGEST_HOLD_MS}. Null for the queue of one set of streams, which rejects requests that wait too long
   * @param isBlocked returns true if a request would probably wait too long for a lock. The queue then passes the
   *   request to `onNotShared` without writing it
   */
  constructor(
    private readonly writeGroup: WriteGroup,
    private readonly onNotShared: OnNotShared | null,
    shards = 1,
    private readonly isBlocked: (request: QueuedRequest) => boolean = () => false,
  ) {
    this.shards = Array.from({ length: shards }, () => ({ queue: [], isWriting: false }));
  }

  get isIdle(): boolean {
    return !this.isWriting && requestsIn(this.shards) === 0;
  }

  private get isWriting(): boolean {
    return this.shards.some(({ isWriting }) => isWriting);
  }

  /** Adds a request. Returns its outcome after all its events are written, by this queue or by `onNotShared`. */
  enqueue(
    events: readonly IncomingEvent[],
    fastPath: FastPathRequest | null,
  ): Promise<AppendOutcome> {
    return new Promise((resolve, reject) =>
      this.add({ events, fastPath, resolve: nextTurn(resolve), reject, retries: 0 }),
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
    else if (due.length > 0 && !this.isWriting) void this.writeShards(due);
  }

  /**
   * Writes as many of the waiting requests as fit into one statement. Then waits up to {@link MAX_WAIT_MS} for about
   * half as many new requests. Clients that report in a loop are answered together, so they soon report again. Without
   * the wait, the first new request would get a commit of its own, and all others would wait for that commit.
   */
  private async writeShards(shards: readonly Shard[]): Promise<void> {
    for (const shard of shards) shard.isWriting = true;
    const group = takeGroup(shards);
    const takenOver = await this.write(group);
    const held = takenOver.filter((one) => one instanceof Promise);
    if (held.length > 0) {
      const timeout = pause(LONGEST_HOLD_MS, undefined, { ref: false });
      await Promise.race([Promise.allSettled(held), timeout]);
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

  private async write(all: readonly QueuedRequest[]): Promise<readonly unknown[]> {
    const takenOver: unknown[] = [];
    const group = this.withoutBlocked(all, takenOver);
    if (group.length === 0) return takenOver;
    const failure = await this.tryToWrite(group, takenOver, null);
    if (failure === null) return takenOver;
    if (group.length > 1 && !isOutage(failure.reason)) {
      await this.writeInParts(group, failure, takenOver);
    } else for (const request of group) this.fail(request, failure, takenOver);
    return takenOver;
  }

  private withoutBlocked(
    group: readonly QueuedRequest[],
    takenOver: unknown[],
  ): readonly QueuedRequest[] {
    return group.filter((request) => {
      const isBlocked = this.isBlocked(request);
      if (isBlocked) takenOver.push(this.answer(request, 'timeout', null));
      return !isBlocked;
    });
  }

  /**
   * Writes a group, answers its requests, and adds the results of `onNotShared` to `takenOver`. Returns the error if
   * the write failed, otherwise null.
   * @param timeout error of an earlier write of these requests that waited too long for a lock; null if there was none
   */
  private async tryToWrite(
    group: readonly QueuedRequest[],
    takenOver: unknown[],
    timeout: Failure | null,
  ): Promise<Failure | null> {
    try {
      const outcomes = await this.writeGroup(group, timeout !== null);
      for (const [index, request] of group.entries()) {
        takenOver.push(this.answer(request, outcomes[index], timeout));
      }
      return null;
    } catch (reason) {
      return { reason };
    }
  }

  /**
   * Answers a request, or passes it to `onNotShared` and returns the result. An error rejects only this request. The
   * error is not thrown, because that would stop the queue for ever.
   */
  private answer(
    request: QueuedRequest,
    outcome: FastPathOutcome | 'timeout' | undefined,
    timeout: Failure | null,
  ): unknown {
    try {
      invariant(outcome !== undefined, 'Each request has an outcome.');
      if (typeof outcome === 'string') return this.takeOver(request, outcome, timeout);
      if ('failure' in outcome) throw outcome.failure;
      if ('rest' in outcome)
        return this.takeOver(restOf(request, outcome), outcome.reason, timeout);
      request.resolve(outcome);
    } catch (error) {
      request.reject(error);
    }
    return undefined;
  }

  private takeOver(request: QueuedRequest, reason: NotShared, timeout: Failure | null): unknown {
    if (this.onNotShared !== null) return this.onNotShared(request, reason);
    invariant(timeout !== null, 'A request that waits for its stream is tried.');
    throw timeout.reason;
  }

  private fail(request: QueuedRequest, failure: Failure, takenOver: unknown[]): void {
    if (isTimeout(failure)) takenOver.push(this.answer(request, 'timeout', failure));
    else request.reject(failure.reason);
  }

  /**
   * Writes the requests of a failed group again, in parts. Writes the requests of a part that fails one by one, so that
   * one request cannot fail the others. Passes requests that wait too long for a lock to `onNotShared`. Rejects them if
   * `onNotShared` is null.
   */
  private async writeInParts(
    group: readonly QueuedRequest[],
    failed: Failure,
    takenOver: unknown[],
  ): Promise<void> {
    let timeout = isTimeout(failed) ? failed : null;
    let timeouts = 0;
    const parts = inParts(group, Math.floor(Math.sqrt(group.length)));
    for (let next = parts.shift(); next !== undefined; next = parts.shift()) {
      const part = this.withoutBlocked(next, takenOver);
      if (part.length === 0) continue;
      const isTried = this.onNotShared !== null || timeouts < MAX_TIMEOUTS;
      const failure = isTried ? await this.tryToWrite(part, takenOver, timeout) : timeout;
      if (failure === null) continue;
      if (isTimeout(failure)) {
        timeout = failure;
        timeouts += 1;
      }
      if (isTried && part.length > 1 && !isOutage(failure.reason))
        parts.unshift(...inParts(part, 1));
      else for (const request of part) this.fail(request, failure, takenOver);
    }
  }
}

/**
 * Returns a new request for the skipped events of a request. When the new request is resolved, the original request is
 * resolved with the outcome of all its events.
 */
function restOf({ resolve, reject }: QueuedRequest, { rest, stored }: PartOutcome): QueuedRequest {
  return {
    events: rest,
    fastPath: null,
    resolve: (outcome) => resolve(mergeParts([stored, outcome])),
    reject: (error) => reject(failureOf(stored.accepted, error)),
    retries: 0,
  };
}

/** Returns true if nothing was stored because another transaction held a lock for too long. */
function isTimeout({ reason }: Failure): boolean {
  return isLockTimeout(reason) && !isOutage(reason);
}

function inParts(group: readonly QueuedRequest[], size: number): (readonly QueuedRequest[])[] {
  return Array.from({ length: Math.ceil(group.length / size) }, (_, part) =>
    group.slice(part * size, (part + 1) * size),
  );
}

function requestsIn(shards: readonly Shard[]): number {
  return shards.reduce((sum, { queue }) => sum + queue.length, 0);
}

function eventsIn(requests: readonly QueuedRequest[]): number {
  return requests.reduce((sum, { events }) => sum + events.length, 0);
}

/** Takes from each shard the first requests that together fit into one statement. Takes at least one request. */
function takeGroup(shards: readonly Shard[]): readonly QueuedRequest[] {
  return shards.flatMap(({ queue }) => {
    let events = 0;
    const end = queue.findIndex((request, index) => {
      events += request.events.length;
      return index > 0 && events > MAX_EVENTS_IN_MEMORY;
    });
    return queue.splice(0, end === -1 ? queue.length : end);
  });
}
