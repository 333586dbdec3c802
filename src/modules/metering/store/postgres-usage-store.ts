import { Injectable } from '@nestjs/common';
import { AppendUsage } from './append-usage';
import { type AppendResult, type IncomingEvent, UsageStore } from './usage-store';

/** Usage in PostgreSQL: each operation is a file of its own. */
@Injectable()
export class PostgresUsageStore extends UsageStore {
  constructor(private readonly appending: AppendUsage) {
    super();
  }

  override append(
    events: Iterable<IncomingEvent> | AsyncIterable<IncomingEvent>,
  ): Promise<AppendResult> {
    return this.appending.append(events);
  }
}
