import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import type { OnBusy } from '../store/usage-streams';
import type { IncomingEvent } from '../usage-store';
import {
  type AppendOutcome,
  type FastPathOutcome,
  joinParts,
  type NotShared,
  splitByRequest,
} from './append-outcome';
import { AppendUsage, lastInstantAt } from './append-usage';
import { FastPathAppend } from './fast-path-append';
import { FastPathRequest, type SplitRequest } from './fast-path-request';
import { StreamCache } from './stream-cache';
import { StreamQueues } from './stream-queues';
import type { Append, QueuedRequest } from './write-apart';
import { WriteQueue } from './write-queue';

/** Number of shards into which the fast path divides streams. Shards can be written at the same time. */
const SHARD_COUNT = 2;

/** Separate queues for single events and for lists, so that single events never wait for lists. */
interface Queues {
  readonly singles: WriteQueue;
  readonly lists: WriteQueue;
}

/**
 * Collects concurrent requests into shared commits: requests that arrive during a commit go into the next one. Events
 * of cached streams (a stream: one customer, one event name) take the fast path (one statement). A request with several
 * events (a list) is split by shard. Within a shard, streams with events that may be in registered windows (periods
 * with running totals of their own) are stored apart from the others.
 *
 * Events of a stream whose cached state is outdated take the slow path. Events of a locked stream are left out of the
 * shared commit, so that no other request waits for the lock. They wait in queues of their streams, and so do requests that wait too long
 * for another lock, and later ones of their streams.
 */
@Injectable()
export class IngestBatcher {
  readonly streamQueues = new StreamQueues((group, onBusy) =>
    group[0]?.fastPath ? this.appendFast(group, onBusy) : this.appendSlow(group, onBusy),
  );
  private readonly slowPath = this.queues((group, onBusy) => this.appendSlow(group, onBusy), 1);
  /**
   * Fast-path queues for events that may be in registered windows (periods with running totals of their own). The other
   * events have separate queues, because they need fewer statements.
   */
  private readonly inWindows = this.fastPathQueues();
  private readonly outsideWindows = this.fastPathQueues();

  constructor(
    private readonly appendUsage: AppendUsage,
    private readonly fastPathAppend: FastPathAppend,
    private readonly cache: StreamCache,
    private readonly clock: Clock,
  ) {}

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
    return this.queues((group, onBusy) => this.appendFast(group, onBusy), SHARD_COUNT);
  }

  private queues(append: Append, shardsOfLists: number): Queues {
    const isBlocked = (request: QueuedRequest) => this.streamQueues.isBlocked(request);
    const takeOver = (which: keyof Queues, request: QueuedRequest, reason: NotShared) => {
      if (reason !== 'outdated')
        return this.streamQueues.add(this.preparedToWait(request, reason), reason);
      this.slowPath[which].add({ ...request, fastPath: null });
      return undefined;
    };
    return {
      singles: new WriteQueue(
        append,
        (request, reason) => void takeOver('singles', request, reason),
        isBlocked,
      ),
      lists: new WriteQueue(
        append,
        (request, reason) => takeOver('lists', request, reason),
        isBlocked,
        shardsOfLists,
      ),
    };
  }

  private queuesOf({ hasWindows }: FastPathRequest): Queues {
    return hasWindows ? this.inWindows : this.outsideWindows;
  }

  /** Prepares the skipped part of a list for the fast path, if all its events can take it. */
  private preparedToWait(request: QueuedRequest, reason: NotShared): QueuedRequest {
    if (request.fastPath !== null || reason !== 'busy') return request;
    const { parts, rest } = this.split(request.events, 1);
    const fastPath = rest.length === 0 && parts.length === 1 ? (parts[0] ?? null) : null;
    return { ...request, fastPath };
  }

  private appendFast(
    group: readonly QueuedRequest[],
    onBusy: OnBusy,
  ): Promise<readonly FastPathOutcome[]> {
    const requests = group.flatMap(({ fastPath }) => fastPath ?? []);
    return this.fastPathAppend.append(requests, onBusy);
  }

  private async appendSlow(
    group: readonly QueuedRequest[],
    onBusy: OnBusy,
  ): Promise<readonly FastPathOutcome[]> {
    const requestOf = group.flatMap(({ events }, index) => events.map(() => index));
    const events = group.flatMap((request) => request.events);
    const numbered = events.map((event, index) => ({ ...event, index }));
    const { notStored } = await this.appendUsage.append(numbered, onBusy, requestOf);
    return splitByRequest(group, notStored).map((outcome) =>
      outcome.notStored[0]?.result === 'busy' ? 'busy' : outcome,
    );
  }
}
