import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { MetersModule } from '../meters';
import { TestClocksModule } from '../test-clocks';
import { ClosedSubscriptionsRepository } from './closed-subscriptions.repository';
import { CreateMeterController } from './create-meter.controller';
import { CreateMeterService } from './create-meter.service';
import { FinalUsageService } from './final-usage.service';
import { MeteredNames } from './metered-names';
import { MeterUsageController } from './meter-usage.controller';
import { MeterUsageService } from './meter-usage.service';
import { MeterBackfills } from './meter-backfills';
import { ArchiveUsage } from './archive/archive-usage';
import { ArchiveMetrics } from './archive/archive-metrics';
import { ArchivedUsage } from './archive/archived-usage';
import { ArchivedEventsRepository } from './archive/archived-events.repository';
import { ArchivedMonthsRepository } from './archive/archived-months.repository';
import { RemoveArchivedUsage } from './archive/remove-archived-usage';
import { UsageArchiveRepository } from './archive/usage-archive.repository';
import { ArchivedKeys } from './ingest/archived-keys';
import { FastPathAppend } from './ingest/fast-path-append';
import { AppendUsage } from './ingest/append-usage';
import { BackfillMeters } from './store/backfill-meters';
import { EventCounts } from './store/event-counts';
import { LargestUsageReader } from './store/largest-usage';
import { LateUsageWriter } from './store/late-usage-writer';
import { IngestBatcher } from './ingest/ingest-batcher';
import { StreamCache } from './ingest/stream-cache';
import { MeterBackfillsRepository } from './store/meter-backfills.repository';
import { ProveUsage } from './store/prove-usage';
import { VoidUsage } from './store/void-usage';
import { PostgresUsageStore } from './postgres-usage-store';
import { StoredEvents } from './store/stored-events';
import { TotalUsageReader } from './store/total-usage';
import { usagePurge } from './store/usage-purge';
import { UsageReader } from './store/usage-reader';
import { UsageStore } from './usage-store';
import { UsageStreams } from './store/usage-streams';
import { UsageTotalsWriter } from './store/usage-totals-writer';
import { UsageWindows } from './store/usage-windows';
import { WindowChanges } from './store/window-changes';
import { UsageBilledRepository } from './usage-billed.repository';
import { UsageBillingService } from './usage-billing.service';
import { StoredUsageController } from './stored-usage.controller';
import { UsageArchiveController } from './usage-archive.controller';
import { UsageEventsController } from './usage-events.controller';
import { UsageEventsService } from './usage-events.service';
import { UsageHooks } from './usage-hooks';

@Module({
  imports: [CustomersModule, MetersModule, TestClocksModule],
  controllers: [
    CreateMeterController,
    MeterUsageController,
    StoredUsageController,
    UsageArchiveController,
    UsageEventsController,
  ],
  providers: [
    FastPathAppend,
    AppendUsage,
    ArchivedKeys,
    ArchivedUsage,
    ArchiveMetrics,
    ArchiveUsage,
    BackfillMeters,
    ClosedSubscriptionsRepository,
    CreateMeterService,
    FinalUsageService,
    EventCounts,
    LargestUsageReader,
    LateUsageWriter,
    IngestBatcher,
    StreamCache,
    MeteredNames,
    MeterBackfills,
    MeterBackfillsRepository,
    MeterUsageService,
    ProveUsage,
    RemoveArchivedUsage,
    ArchivedEventsRepository,
    ArchivedMonthsRepository,
    UsageArchiveRepository,
    VoidUsage,
    StoredEvents,
    TotalUsageReader,
    UsageEventsService,
    usagePurge,
    UsageReader,
    UsageBilledRepository,
    UsageBillingService,
    UsageStreams,
    UsageTotalsWriter,
    UsageHooks,
    UsageWindows,
    WindowChanges,
    { provide: UsageStore, useClass: PostgresUsageStore },
  ],
  exports: [
    ArchivedUsage,
    ArchiveUsage,
    RemoveArchivedUsage,
    MeterUsageService,
    FinalUsageService,
    UsageBillingService,
    UsageStore,
    UsageStreams,
    UsageHooks,
    UsageWindows,
  ],
})
export class MeteringModule {}
