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
import { usageEventNotFound } from './usage.errors';

/** An item of a list of events: one that could be read, or why it could not. */
export type UsageItem = IncomingEvent | Rejection;

/** Each holds a connection for as long as its client takes to send; the others wait, and so do their clients. */
const MOST_STREAMS = 4;

@Injectable()
export class UsageEventsService {
  private readonly streams = new Turns(MOST_STREAMS);

  constructor(private readonly store: UsageStore) {}

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

  /** Stores one event. */
  report(event: UsageEvent): Promise<AppendResult> {
    return this.store.appendTogether([{ ...event, index: 0 }]);
  }

  /** Stores what can be stored of a list, in one commit, and tells of the rest by its place. */
  async reportAll(items: readonly UsageItem[]): Promise<AppendResult> {
    const [events, unread] = apart(items);
    return withUnread(await this.store.appendTogether(events), unread);
  }

  /** The same for items that are still coming. If they break off, nothing is stored. */
  reportStream(items: AsyncIterable<readonly UsageItem[]>): Promise<AppendResult> {
    return this.streams.take(async () => {
      const unread: Rejection[] = [];
      const result = await this.store.append(readable(items, unread));
      return withUnread(result, unread);
    });
  }
}

async function* readable(
  pieces: AsyncIterable<readonly UsageItem[]>,
  unread: Rejection[],
): AsyncGenerator<readonly IncomingEvent[]> {
  for await (const items of pieces) {
    const [events, faults] = apart(items);
    unread.push(...faults);
    yield events;
  }
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
