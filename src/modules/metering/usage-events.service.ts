import { Injectable } from '@nestjs/common';
import type { StoredUsageEvent, UsageEvent } from './domain/usage-event';
import {
  type AppendResult,
  type EventFilter,
  type EventPage,
  type EventPageRequest,
  type IncomingEvent,
  type Rejection,
  UsageStore,
} from './store/usage-store';
import { Turns } from './turns';
import { MeteredNames, type UncountedEvents } from './metered-names';
import { usageEventNotFound, usageEventRejected } from './usage.errors';

/** An item of a list of events: one that could be read, or why it could not. */
export type UsageItem = IncomingEvent | Rejection;

/** What became of reported events, and which of them no meter counts. */
export interface ReportResult extends AppendResult {
  readonly uncounted: readonly UncountedEvents[];
}

/** Each holds a connection for as long as its client takes to send; the others wait, and so do their clients. */
const MOST_STREAMS = 4;

@Injectable()
export class UsageEventsService {
  private readonly streams = new Turns(MOST_STREAMS);

  constructor(
    private readonly store: UsageStore,
    private readonly meteredNames: MeteredNames,
  ) {}

  /** @throws {ProblemError} `usage_event_not_found` */
  async get(idempotencyKey: string): Promise<StoredUsageEvent> {
    const event = await this.store.find(idempotencyKey);
    if (event === null) throw usageEventNotFound(idempotencyKey);
    return event;
  }

  /** @throws {ProblemError} `invalid_cursor` */
  list(filter: EventFilter, page: EventPageRequest): Promise<EventPage> {
    return this.store.list(filter, page);
  }

  /** @throws {ProblemError} `usage_event_not_found`, `usage_late` */
  void(idempotencyKey: string): Promise<StoredUsageEvent> {
    return this.store.void(idempotencyKey);
  }

  /**
   * Stores one event.
   * @throws {ProblemError} `usage_event_rejected`
   */
  async report(event: UsageEvent): Promise<ReportResult> {
    const result = await this.store.appendTogether([{ ...event, index: 0 }]);
    const [rejection] = result.rejected;
    if (rejection !== undefined) throw usageEventRejected(rejection);
    return this.withUncounted(result, new Map([[event.eventName, 1]]));
  }

  /** Stores what can be stored of a list, in one commit, and tells of the rest by its place. */
  async reportAll(items: readonly UsageItem[]): Promise<ReportResult> {
    const [events, unread] = apart(items);
    const result = await this.store.appendTogether(events);
    const rejected = new Set(result.rejected.map(({ index }) => index));
    const counts = new Map<string, number>();
    countNames(
      events.filter(({ index }) => !rejected.has(index)),
      counts,
    );
    return this.withUncounted(withUnread(result, unread), counts);
  }

  /** The same for items that are still coming. If they break off, nothing is stored. */
  async reportStream(items: AsyncIterable<readonly UsageItem[]>): Promise<ReportResult> {
    const counts = new Map<string, number>();
    const result = await this.streams.take(async () => {
      const unread: Rejection[] = [];
      return withUnread(await this.store.append(readable(items, unread, counts)), unread);
    });
    return this.withUncounted(result, counts);
  }

  /** @param counts how many events were reported, by name */
  private async withUncounted(
    result: AppendResult,
    counts: ReadonlyMap<string, number>,
  ): Promise<ReportResult> {
    return { ...result, uncounted: await this.meteredNames.findUncounted(counts) };
  }
}

async function* readable(
  pieces: AsyncIterable<readonly UsageItem[]>,
  unread: Rejection[],
  counts: Map<string, number>,
): AsyncGenerator<readonly IncomingEvent[]> {
  for await (const items of pieces) {
    const [events, faults] = apart(items);
    unread.push(...faults);
    countNames(events, counts);
    yield events;
  }
}

function countNames(events: readonly IncomingEvent[], counts: Map<string, number>): void {
  for (const { eventName } of events) counts.set(eventName, (counts.get(eventName) ?? 0) + 1);
}

function apart(items: readonly UsageItem[]): [IncomingEvent[], Rejection[]] {
  const events: IncomingEvent[] = [];
  const unread: Rejection[] = [];
  for (const item of items) {
    if ('code' in item) unread.push(item);
    else events.push(item);
  }
  return [events, unread];
}

function withUnread(result: AppendResult, unread: readonly Rejection[]): AppendResult {
  if (unread.length === 0) return result;
  const rejected = [...unread, ...result.rejected].sort((a, b) => a.index - b.index);
  return { ...result, rejected };
}
