import { Injectable } from '@nestjs/common';
import type { Group } from '../../core/usage';
import type { Page, PageRequest } from '../../platform/database';
import type { ArchivedMonth } from './domain/archived-month';
import type { StoredUsageEvent } from './domain/usage-event';
import { toAppendResult } from './ingest/append-outcome';
import { AppendUsage } from './ingest/append-usage';
import { IngestBatcher } from './ingest/ingest-batcher';
import { LargestUsageReader } from './store/largest-usage';
import { ProveUsage } from './store/prove-usage';
import { StoredEvents } from './store/stored-events';
import { TotalUsageReader } from './store/total-usage';
import { UsageReader } from './store/usage-reader';
import {
  type AppendResult,
  type CountedEvent,
  type UsageEventFilter,
  type IncomingEvent,
  type IncomingEvents,
  type LargestUsage,
  type LargestUsageQuery,
  type ProofQuery,
  type TotalUsage,
  type TotalUsageQuery,
  type UsageProof,
  type UsageQuery,
  type UsageReading,
  type UsageSeries,
  type UsageSeriesQuery,
  UsageStore,
} from './usage-store';
import { VoidUsage } from './store/void-usage';

/** Stores usage in PostgreSQL. Each operation has a file of its own in `ingest/` or `store/`. */
@Injectable()
export class PostgresUsageStore extends UsageStore {
  constructor(
    private readonly appendUsage: AppendUsage,
    private readonly batcher: IngestBatcher,
    private readonly reader: UsageReader,
    private readonly largestUsage: LargestUsageReader,
    private readonly totalUsage: TotalUsageReader,
    private readonly events: StoredEvents,
    private readonly voidUsage: VoidUsage,
    private readonly proveUsage: ProveUsage,
  ) {
    super();
  }

  override async append(events: IncomingEvents): Promise<AppendResult> {
    return toAppendResult(await this.appendUsage.append(events));
  }

  override async appendTogether(events: readonly IncomingEvent[]): Promise<AppendResult> {
    return toAppendResult(await this.batcher.write(events));
  }

  override aggregate(query: UsageQuery): Promise<UsageReading> {
    return this.reader.aggregate(query);
  }

  override recount(
    query: UsageQuery & { readonly upToPosition: bigint },
  ): Promise<UsageReading | null> {
    return this.reader.recount(query);
  }

  override series(query: UsageSeriesQuery): Promise<UsageSeries> {
    return this.reader.series(query);
  }

  override largest(query: LargestUsageQuery): Promise<LargestUsage> {
    return this.largestUsage.read(query);
  }

  override total(query: TotalUsageQuery): Promise<TotalUsage> {
    return this.totalUsage.read(query);
  }

  override listCounted(
    query: UsageQuery,
    group: Group | null,
    page: PageRequest,
  ): Promise<Page<CountedEvent>> {
    return this.events.listCounted(query, group, page);
  }

  override readCounted(query: UsageQuery): AsyncIterable<readonly CountedEvent[]> {
    return this.events.readCounted(query);
  }

  override listArchived(
    queries: readonly UsageQuery[],
  ): Promise<readonly (readonly ArchivedMonth[])[]> {
    return this.reader.listArchived(queries);
  }

  override list(filter: UsageEventFilter, page: PageRequest): Promise<Page<StoredUsageEvent>> {
    return this.events.list(filter, page);
  }

  override get(idempotencyKey: string): Promise<StoredUsageEvent> {
    return this.events.get(idempotencyKey);
  }

  override void(idempotencyKey: string): Promise<StoredUsageEvent> {
    return this.voidUsage.void(idempotencyKey);
  }

  override prove(query: ProofQuery): Promise<UsageProof> {
    return this.proveUsage.prove(query);
  }
}
