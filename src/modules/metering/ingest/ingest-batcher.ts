import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { ConcurrencyLimiter } from '../../../platform/concurrency';
import { isOutage } from '../../../platform/database';
import { type OnBusy, streamKey } from '../store/usage-streams';
import type { IncomingEvent } from '../usage-store';
import {
  type AppendOutcome,
  type FastPathOutcome,
  joinParts,
  type NotTried,
  splitByRequest,
} from './append-outcome';
import { AppendUsage, lastInstantAt } from './append-usage';
import { FastPathAppend } from './fast-path-append';
import { FastPathRequest, type SplitRequest } from './fast-path-request';
import { StreamCache } from './stream-cache';
import { type QueuedRequest, WriteQueue } from './write-queue';

/**
 * Maximum number of writes that wait for locked streams at the same time, for single events and for lists separately.
 * Each waiting write uses a connection.
 */
const MAX_WAITING = 4;
const MAX_STREAM_QUEUES = 100;
/** Maximum number of retries of a single event on the fast path while its stream is locked. Then the event waits for the stream. */
const MAX_RETRIES = 2;

/** Number of shards of streams on the fast path. Each shard is written by a connection of its own. */
const SHARD_COUNT = 2;

/** Separate queues for single events and for lists, so that single events never wait for lists. */
interface Queues {
  readonly singles: WriteQueue;
  readonly lists: WriteQueue;
}

/**
 * Collects concurrent requests into shared commits: requests that arrive during a commit go into the next one. Events
 * of cached streams take the fast path. A request with several events (a list) is split by shard. The part of a shard
 * is split again: into events that may be in registered windows (periods with running totals of their own), and other
 * events.
 *
 * Events are left out of the shared commit if their stream is locked, or its cached state is outdated, so that no
 * request waits for the stream of another request. If the state is outdated, the events take the slow path. If the
 * stream stays locked, a single event waits in the queue of its stream, and a list waits together with other such
 * lists.
 */
@Injectable()
export class IngestBatcher {
  private readonly slowPath: Queues;
  /**
   * Queues of the fast path for events in registered windows. Other events have queues of their own, because they are stored
   * with fewer statements.
   */
  private readonly inWindows = this.fastPathQueues();
  private readonly outsideWindows = this.fastPathQueues();
  private readonly streamQueues = new Map<string, WriteQueue>();
  private readonly singleWaits = new ConcurrencyLimiter(MAX_WAITING);
  private readonly listWaits = new ConcurrencyLimiter(MAX_WAITING);
  /** Lists whose streams were locked, collected to be stored together. */
  private readonly busy: QueuedRequest[] = [];
  private storingBusy: Promise<void> | null = null;

  constructor(
    private readonly appendUsage: AppendUsage,
    private readonly fastPathAppend: FastPathAppend,
    private readonly cache: StreamCache,
    private readonly clock: Clock,
  ) {
    this.slowPath = {
      singles: new WriteQueue(
        (group) => this.append(group, 'skip'),
        (request) => this.streamQueueOf(request).add(request),
      ),
      lists: new WriteQueue(
        (group) => this.append(group, 'skip'),
        ({ events, resolve, reject }) => {
          this.listWaits.run(() => this.appendUsage.append(events)).then(resolve, reject);
        },
      ),
    };
  }

  /** Stores events and returns their outcome after the commit. */
  async write(events: readonly IncomingEvent[]): Promise<AppendOutcome> {
    if (events.length === 0) return { accepted: 0, notStored: [] };
    const { parts, rest } = await this.splitCached(events);
    const which = events.length > 1 ? 'lists' : 'singles';
    const outcomes = parts.map((part) => this.queuesOf(part)[which].enqueue(part.events, part));
    if (rest.length > 0) outcomes.push(this.slowPath[which].enqueue(rest, null));
    return joinParts(outcomes);
  }

  /** Splits events by the cached state of their streams. First reads the state of streams that are not cached. */
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
    return {
      singles: new WriteQueue(
        (group) => this.appendOnFastPath(group),
        (request, reason) => this.retry(request, reason),
      ),
      lists: new WriteQueue(
        (group) => this.appendOnFastPath(group),
        (request, reason) => {
          if (reason === 'busy') return this.addToBusy(request);
          this.slowPath.lists.add(request);
          return undefined;
        },
        SHARD_COUNT,
      ),
    };
  }

  private queuesOf({ hasWindows }: FastPathRequest): Queues {
    return hasWindows ? this.inWindows : this.outsideWindows;
  }

  /**
   * Retries a request that the fast path could not store. If the stream was locked, tries the fast path again, because
   * another process usually holds the lock only for one commit. After {@link MAX_RETRIES} retries, the request waits in
   * the queue of its stream. If the cached state of the stream was outdated, the request takes the slow path.
   */
  private retry(request: QueuedRequest, reason: NotTried): void {
    request.retries += 1;
    const { fastPath } = request;
    if (reason === 'outdated' || fastPath === null) this.slowPath.singles.add(request);
    else if (request.retries <= MAX_RETRIES) this.queuesOf(fastPath).singles.add(request);
    else this.streamQueueOf(request).add(request);
  }

  /**
   * Adds a list to the lists whose streams were locked, which are stored together. Resolves after all of them are
   * stored or have failed.
   */
  private addToBusy(request: QueuedRequest): Promise<void> {
    this.busy.push(request);
    this.storingBusy ??= Promise.resolve().then(() => {
      this.storingBusy = null;
      return this.waitForStreams(this.busy.splice(0));
    });
    return this.storingBusy;
  }

  /** Stores lists whose streams were locked: waits until the streams are free, and retries the fast path. */
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
      // Retries each list alone, so that a stream that stays locked fails only lists with events of this stream. After
      // an outage, retries nothing, because the events may already be stored.
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

  /**
   * Stores on the slow path the events that the fast path left out. Returns the outcome of all events of the part.
   */
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

  /** Returns the queue of a stream. The requests of a queue share commits, and do not delay requests for other streams. */
  private streamQueueOf({ events }: QueuedRequest): WriteQueue {
    const [event] = events;
    const key = event === undefined ? '' : streamKey(event);
    const existing = this.streamQueues.get(key);
    if (existing !== undefined) return existing;
    if (this.streamQueues.size >= MAX_STREAM_QUEUES) {
      for (const [other, queue] of this.streamQueues) {
        if (queue.isIdle) this.streamQueues.delete(other);
      }
    }
    const created = new WriteQueue(
      (group) => this.singleWaits.run(() => this.append(group, 'wait')),
      () => invariant(false, 'A request that waits for its stream is tried.'),
    );
    this.streamQueues.set(key, created);
    return created;
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

  private appendOnFastPath(group: readonly QueuedRequest[]): Promise<readonly FastPathOutcome[]> {
    return this.fastPathAppend.append(group.flatMap(({ fastPath }) => fastPath ?? []));
  }
}
