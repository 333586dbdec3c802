import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { ConcurrencyLimiter } from '../../../platform/concurrency';
import { type OnBusy, streamKey } from '../store/usage-streams';
import type { IncomingEvent } from '../usage-store';
import { type AppendOutcome, mergeParts, type NotTried, splitByRequest } from './append-outcome';
import { AppendUsage, lastInstantAt } from './append-usage';
import { FastPathAppend } from './fast-path-append';
import { FastPathRequest } from './fast-path-request';
import { StreamCache } from './stream-cache';
import { type QueuedRequest, WriteQueue } from './write-queue';

/** Requests that wait for locked streams at a time, of single events and of lists. Each uses a connection. */
const MAX_WAITING = 4;
const MAX_STREAM_QUEUES = 100;
/** Retries of a single event on the fast path, while its stream is locked, before it waits for the stream. */
const MAX_RETRIES = 2;

/** Shards that streams are divided into on the fast path. Each is written by a connection of its own. */
const SHARDS = 2;

/** Single events never wait for lists. */
interface Queues {
  readonly singles: WriteQueue;
  readonly lists: WriteQueue;
}

/**
 * Collects concurrent requests into shared commits: requests that arrive during a commit go into the next one.
 * Requests whose streams are all cached take the fast path, lists in up to two parts. A request with a locked or outdated
 * stream leaves its group as a whole, so that no request waits for a stream that is not its own: a single event waits in a
 * queue of its stream, a list by itself.
 */
@Injectable()
export class IngestBatcher {
  private readonly slowPath: Queues;
  private readonly fastPath: Queues;
  private readonly streamQueues = new Map<string, WriteQueue>();
  private readonly singleWaits = new ConcurrencyLimiter(MAX_WAITING);
  private readonly listWaits = new ConcurrencyLimiter(MAX_WAITING);

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
    this.fastPath = {
      singles: new WriteQueue(
        (group) => this.appendOnFastPath(group),
        (request, reason) => this.retry(request, reason),
      ),
      lists: new WriteQueue(
        (group) => this.appendOnFastPath(group),
        (request) => this.slowPath.lists.add(request),
        SHARDS,
      ),
    };
  }

  /** Stores events and returns their outcome once it is committed. */
  async write(events: readonly IncomingEvent[]): Promise<AppendOutcome> {
    if (events.length === 0) return { accepted: 0, notStored: [] };
    const parts = this.fastPathParts(events) ?? (await this.partsAfterCaching(events));
    const queues = parts === null ? this.slowPath : this.fastPath;
    const queue = events.length > 1 ? queues.lists : queues.singles;
    if (parts === null) return queue.put(events, null);
    return mergeParts(await Promise.all(parts.map((part) => queue.put(part.events, part))));
  }

  private fastPathParts(events: readonly IncomingEvent[]): readonly FastPathRequest[] | null {
    const lastInstant = lastInstantAt(this.clock.now());
    const shards = events.length > 1 ? SHARDS : 1;
    return FastPathRequest.partsOf(events, shards, (name) => this.cache.get(name), lastInstant);
  }

  private async partsAfterCaching(
    events: readonly IncomingEvent[],
  ): Promise<readonly FastPathRequest[] | null> {
    const unknown = events.filter((event) => this.cache.get(event) === undefined);
    if (unknown.length === 0) return null;
    await this.cache.read(unknown);
    return this.fastPathParts(events);
  }

  /** Retries a locked stream: another process locks it for one commit, so the next attempt mostly succeeds. */
  private retry(request: QueuedRequest, reason: NotTried): void {
    request.retries += 1;
    if (reason === 'outdated') this.slowPath.singles.add(request);
    else if (request.retries <= MAX_RETRIES) this.fastPath.singles.add(request);
    else this.streamQueueOf(request).add(request);
  }

  /** Returns the queue of a stream. Its requests share commits and do not delay those of other streams. */
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

  private appendOnFastPath(
    group: readonly QueuedRequest[],
  ): Promise<readonly (AppendOutcome | NotTried)[]> {
    return this.fastPathAppend.append(group.flatMap(({ fastPath }) => fastPath ?? []));
  }
}
