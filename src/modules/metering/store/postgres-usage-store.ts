import { Injectable } from '@nestjs/common';
import type { Group } from '../domain/group-usage';
import type { StoredUsageEvent } from '../domain/usage-event';
import { AppendUsage } from './append-usage';
import { StoredEvents } from './stored-events';
import { UsageReader } from './usage-reader';
import {
  type AppendResult,
  type EventFilter,
  type EventPage,
  type EventPageRequest,
  type IncomingEvent,
  type UsageQuery,
  type UsageReading,
  type UsageSeries,
  type UsageSeriesQuery,
  UsageStore,
} from './usage-store';

/** Usage in PostgreSQL: each operation is a file of its own. */
@Injectable()
export class PostgresUsageStore extends UsageStore {
  constructor(
    private readonly appending: AppendUsage,
    private readonly reader: UsageReader,
    private readonly events: StoredEvents,
  ) {
    super();
  }

  override append(
    events: Iterable<IncomingEvent> | AsyncIterable<IncomingEvent>,
  ): Promise<AppendResult> {
    return this.appending.append(events);
  }

  override aggregate(query: UsageQuery): Promise<UsageReading> {
    return this.reader.aggregate(query);
  }

  override series(query: UsageSeriesQuery): Promise<UsageSeries> {
    return this.reader.series(query);
  }

  override counted(
    query: UsageQuery,
    group: Group | null,
    page: EventPageRequest,
  ): Promise<EventPage> {
    return this.events.counted(query, group, page);
  }

  override list(filter: EventFilter, page: EventPageRequest): Promise<EventPage> {
    return this.events.list(filter, page);
  }

  override find(idempotencyKey: string): Promise<StoredUsageEvent | null> {
    return this.events.find(idempotencyKey);
  }
}
