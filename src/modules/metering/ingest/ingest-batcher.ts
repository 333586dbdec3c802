import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import { ConcurrencyLimiter } from '../../../platform/concurrency';
import { isOutage } from '../../../platform/database';
import type { OnBusy } from '../store/usage-streams';
import type { IncomingEvent } from '../usage-store';
import {
  type AppendOutcome,
  type FastPathOutcome,
  joinParts,
  type NotShared,
  type NotTried,
  splitByRequest,
} from './append-outcome';
import { AppendUsage, lastInstantAt } from './append-usage';
import { FastPathAppend } from './fast-path-append';
import { FastPathRequest, type SplitRequest } from './fast-path-request';
import { StreamCache } from './stream-cache';
import { type Append, StreamQueues } from './stream-queues';
import { type OnNotShared, type QueuedRequest, WriteQueue } from './write-queue';

/**
 * Maximum number of commits of one kind that wait for locks. Each uses a connection. The kinds are commits of lists, of
 * queues of streams, and of queues of streams with a request that waited too long before.
 */
const MAX_WAITING = 4;
/**
 * Maximum share of the connection pool that waiting commits of one kind use, e.g. 2 of 10 connections. Both kinds of
 * queues of streams together use at most twice this share.
 */
const MAX_SHARE = 0.2;
/**
 * Pool size from which two commits of lists, and two of streams, may wait even if this exceeds {@link MAX_SHARE}. A
 * single one could wait for long, and hold up all others.
 */
const POOL_FOR_TWO = 6;
/**
 * Maximum number of retries of a single event on the fast path. Afterwards, the event waits for the lock on its stream.
 */
const MAX_RETRIES = 2;

/** Number of shards into which the fast path divides streams. Shards can be written at the same time. */
const SHARD_COUNT = 2;

/** Separate queues for single events and for lists, so that single events never wait for lists. */
interface Queues {
  readonly singles: WriteQueue;
  readonly lists: WriteQueue;
}

/**
 * Collects concurrent requests into shared commits: requests that arrive during a commit go into the next one. A stream
 * is the events of one name of one customer, and a list is a request with several events. See README.md in this folder.
 * - Events of cached streams take the fast path (one statement). Lists are split by shard.
 * - Events of a stream whose cached state is outdated take the slow path (a transaction).
 * - Events of a locked stream are left out of the shared commit, so that no other request waits for the lock. They are
 *   tried again. If the stream stays locked, a single event waits in the queue of its stream, and lists wait together.
 * - Requests that wait too long for another lock, and later requests for their streams, wait in queues of their
 *   streams.
 */
@Injectable()
export class IngestBatcher {
  private readonly slowPath: Queues;
  /**
   * Fast-path queues for events that may be in registered windows (periods with running totals of their own). Other
   * events have separate queues, because storing them needs fewer statements.
   */
  private readonly inWindows = this.fastPathQueues();
  private readonly outsideWindows = this.fastPathQueues();
  private readonly streamQueues: StreamQueues;
  private readonly listWaits: ConcurrencyLimiter;
  /** Lists whose streams were locked, collected to be stored together. */
  private readonly busy: QueuedRequest[] = [];
  private storingBusy: Promise<void> | null = null;

  constructor(
    private readonly appendUsage: AppendUsage,
    private readonly fastPathAppend: FastPathAppend,
    private readonly cache: StreamCache,
    private readonly clock: Clock,
    { databasePoolSize }: Configuration,
  ) {
    const append = this.append.bind(this);
    const share = Math.min(MAX_WAITING, Math.max(1, Math.floor(databasePoolSize * MAX_SHARE)));
    const maxWaiting = Math.max(databasePoolSize < POOL_FOR_TWO ? 1 : 2, share);
    const maxOfStreams = Math.max(2, Math.floor(databasePoolSize * MAX_SHARE * 2));
    this.streamQueues = new StreamQueues(append, maxWaiting, share, maxOfStreams);
    this.listWaits = new ConcurrencyLimiter(maxWaiting);
    this.slowPath = {
      singles: this.sharedQueue(append, (request, reason) =>
        this.streamQueues.add(request, reason),
      ),
      lists: this.sharedQueue(append, (request, reason) => {
        const { events, resolve, reject } = request;
        if (this.waitsInQueue(request, reason)) this.streamQueues.add(request, reason);
        else this.listWaits.run(() => this.appendUsage.append(events)).then(resolve, reject);
      }),
    };
  }

  async write(events: readonly IncomingEvent[]): Promise<AppendOutcome> {
    if (events.length === 0) return { accepted: 0, notStored: [] };
    const { parts, rest } = await this.splitCached(events);
    const which = events.length > 1 ? 'lists' : 'singles';
    const outcomes = parts.map((part) => this.queuesOf(part)[which].enqueue(part.events, part));
    if (rest.length > 0) outcomes.push(this.slowPath[which].enqueue(rest, null));
    return joinParts(outcomes);
  }

  /** Splits events for the fast path and the slow path. First caches the state of streams that are not cached yet. */
  private async splitCached(events: readonly IncomingEvent[]): Promise<SplitRequest> {
    const split = this.split(events);
    const unknown = split.rest.filter((event) => this.cache.get(event) === undefined);
    if (unknown.length === 0) return split;
    await this.cache.read(unknown);
    return this.split(events);
  }

  private split(
    events: readonly IncomingEvent[],
    shards = events.length > 1 ? SHARD_COUNT : 1,
  ): SplitRequest {
    const lastInstant = lastInstantAt(this.clock.now());
    return FastPathRequest.split(events, shards, (name) => this.cache.get(name), lastInstant);
  }

  private fastPathQueues(): Queues {
    const append: Append = (group, onBusy) =>
      this.fastPathAppend.append(
        group.flatMap(({ fastPath }) => fastPath ?? []),
        onBusy,
      );
    return {
      singles: this.sharedQueue(append, (request, reason) => this.retry(request, reason)),
      lists: this.sharedQueue(
        append,
        (request, reason) => {
          if (reason === 'outdated') this.slowPath.lists.add(request);
          else if (this.waitsInQueue(request, reason)) this.streamQueues.add(request, reason);
          else return this.addToBusy(request);
          return undefined;
        },
        SHARD_COUNT,
      ),
    };
  }

  private sharedQueue(append: Append, onNotShared: OnNotShared, shards?: number): WriteQueue {
    return new WriteQueue(
      (group, hasTimedOut) => append(group, hasTimedOut ? 'hurry' : 'skip'),
      onNotShared,
      shards,
      (request) => this.streamQueues.isBlocked(request),
    );
  }

  /** Returns true if a list that a shared commit did not store must wait in the queue of its streams. */
  private waitsInQueue(request: QueuedRequest, reason: NotShared): boolean {
    return reason === 'timeout' || this.streamQueues.isHeld(request);
  }

  private queuesOf({ hasWindows }: FastPathRequest): Queues {
    return hasWindows ? this.inWindows : this.outsideWindows;
  }

  /**
   * Retries a single event that the fast path skipped. If its stream was locked, first tries the fast path again,
   * because another process usually holds the lock only for one commit. If the event waited too long for another lock,
   * adds it to the queue of its stream at once.
   */
  private retry(request: QueuedRequest, reason: NotShared): void {
    request.retries += 1;
    const { fastPath } = request;
    if (reason === 'outdated' || fastPath === null) this.slowPath.singles.add(request);
    else if (reason === 'busy' && request.retries <= MAX_RETRIES)
      this.queuesOf(fastPath).singles.add(request);
    else this.streamQueues.add(request, reason);
  }

  /**
   * Collects lists whose streams were locked, and stores them together. Resolves when all of them are stored or failed.
   */
  private addToBusy(request: QueuedRequest): Promise<void> {
    this.busy.push(request);
    this.storingBusy ??= Promise.resolve().then(() => {
      this.storingBusy = null;
      return this.waitForStreams(this.busy.splice(0));
    });
    return this.storingBusy;
  }

  /** Waits until the locked streams of these lists are free, and then retries the fast path. */
  private async waitForStreams(requests: readonly QueuedRequest[]): Promise<void> {
    const split = requests.map(({ events, fastPath }) =>
      fastPath === null ? this.split(events, 1) : { parts: [fastPath], rest: [] },
    );
    const parts = split.flatMap(({ parts: ofRequest }) => ofRequest);
    let stored: readonly FastPathOutcome[];
    try {
      // The slow path may enter the same limiter, so it runs only after this call has left the limiter.
      stored = await this.listWaits.run(() => this.fastPathAppend.append(parts, 'wait'));
    } catch (error) {
      // Retries each list alone, so that a stream that stays locked fails only the lists with events of this stream.
      // Retries nothing after an outage, because the events may already be stored.
      if (requests.length > 1 && !isOutage(error)) {
        await Promise.all(requests.map((one) => this.waitForStreams([one])));
      } else for (const { reject } of requests) reject(error);
      return;
    }
    const outcomes = new Map(parts.map((part, index) => [part, stored[index]]));
    await Promise.all(
      requests.map(({ resolve, reject }, index) => {
        const { parts: ofRequest, rest } = split[index] ?? { parts: [], rest: [] };
        const written = ofRequest.map((part) => this.withSlowPath(part, outcomes.get(part)));
        if (rest.length > 0) written.push(this.slowPath.lists.enqueue(rest, null));
        return joinParts(written).then(resolve, reject);
      }),
    );
  }

  /** Stores the events that the fast path skipped on the slow path. Returns the outcome of all events of the part. */
  private async withSlowPath(
    part: FastPathRequest,
    outcome: FastPathOutcome | undefined,
  ): Promise<AppendOutcome> {
    invariant(outcome !== undefined, 'A request has an outcome.');
    if (typeof outcome === 'string') return this.slowPath.lists.enqueue(part.events, null);
    if ('failure' in outcome) throw outcome.failure;
    if (!('rest' in outcome)) return outcome;
    return joinParts([
      Promise.resolve(outcome.stored),
      this.slowPath.lists.enqueue(outcome.rest, null),
    ]);
  }

  private async append(
    group: readonly QueuedRequest[],
    onBusy: OnBusy,
  ): Promise<readonly (AppendOutcome | NotTried)[]> {
    const requestOf = group.flatMap(({ events }, index) => events.map(() => index));
    const events = group.flatMap((request) => request.events);
    const numbered = events.map((event, index) => ({ ...event, index }));
    const { notStored } = await this.appendUsage.append(numbered, onBusy, requestOf);
    return splitByRequest(group, notStored).map((outcome) =>
      outcome.notStored[0]?.result === 'busy' ? 'busy' : outcome,
    );
  }
}
