import { Injectable } from '@nestjs/common';
import type { UsageEvent } from './domain/usage-event';
import {
  type AppendResult,
  type IncomingEvent,
  type Rejection,
  UsageStore,
} from './store/usage-store';

/** An item of a list of events: one that could be read, or why it could not. */
export type UsageItem = IncomingEvent | Rejection;

@Injectable()
export class UsageEventsService {
  constructor(private readonly store: UsageStore) {}

  /** Stores one event. */
  report(event: UsageEvent): Promise<AppendResult> {
    return this.store.append([{ ...event, index: 0 }]);
  }

  /** Stores what can be stored of a list, in one commit, and tells of the rest by its place. */
  async reportAll(items: Iterable<UsageItem> | AsyncIterable<UsageItem>): Promise<AppendResult> {
    const unread: Rejection[] = [];
    const result = await this.store.append(readable(items, unread));
    if (unread.length === 0) return result;
    const rejected = [...unread, ...result.rejected].sort((a, b) => a.index - b.index);
    return { ...result, rejected };
  }
}

async function* readable(
  items: Iterable<UsageItem> | AsyncIterable<UsageItem>,
  unread: Rejection[],
): AsyncGenerator<IncomingEvent> {
  for await (const item of items) {
    if ('code' in item) unread.push(item);
    else yield item;
  }
}
