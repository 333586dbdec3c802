import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
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
import { FastPathAppend } from './ingest/fast-path-append';
import { AppendUsage } from './ingest/append-usage';
import { BackfillMeters } from './store/backfill-meters';
import { LateUsageWriter } from './store/late-usage-writer';
import { IngestBatcher } from './ingest/ingest-batcher';
import { StreamCache } from './ingest/stream-cache';
import { MeterBackfillEntity } from './store/meter-backfill.entity';
import { MeterBackfillsRepository } from './store/meter-backfills.repository';
import { ProveUsage } from './store/prove-usage';
import { VoidUsage } from './store/void-usage';
import { PostgresUsageStore } from './postgres-usage-store';
import { StoredEvents } from './store/stored-events';
import { UsageBucketEntity } from './store/usage-bucket.entity';
import { UsageDistinctValueEntity } from './store/usage-distinct-value.entity';
import { UsageEventEntity } from './store/usage-event.entity';
import { UsageStreamEntity } from './store/usage-stream.entity';
import { UsagePurge } from './store/usage-purge';
import { UsageReader } from './store/usage-reader';
import { UsageStore } from './usage-store';
import { UsageStreams } from './store/usage-streams';
import { UsageTallyEntity } from './store/usage-tally.entity';
import { UsageTotalsWriter } from './store/usage-totals-writer';
import { UsageWindows } from './store/usage-windows';
import { WindowChanges } from './store/window-changes';
import { UsageWindowEntity } from './store/usage-window.entity';
import { UsageBilledEntity } from './usage-billed.entity';
import { UsageBilledRepository } from './usage-billed.repository';
import { UsageClosedSubscriptionEntity } from './usage-closed-subscription.entity';
import { UsageBillingService } from './usage-billing.service';
import { StoredUsageController } from './stored-usage.controller';
import { UsageEventsController } from './usage-events.controller';
import { UsageEventsService } from './usage-events.service';
import { UsageService } from './usage.service';
import { UsageHooks } from './usage-hooks';

@Module({
  imports: [
    CustomersModule,
    MetersModule,
    TestClocksModule,
    TypeOrmModule.forFeature([
      MeterBackfillEntity,
      UsageBilledEntity,
      UsageBucketEntity,
      UsageClosedSubscriptionEntity,
      UsageDistinctValueEntity,
      UsageEventEntity,
      UsageStreamEntity,
      UsageTallyEntity,
      UsageWindowEntity,
    ]),
  ],
  controllers: [
    CreateMeterController,
    MeterUsageController,
    StoredUsageController,
    UsageEventsController,
  ],
  providers: [
    FastPathAppend,
    AppendUsage,
    BackfillMeters,
    ClosedSubscriptionsRepository,
    CreateMeterService,
    FinalUsageService,
    LateUsageWriter,
    IngestBatcher,
    StreamCache,
    MeteredNames,
    MeterBackfills,
    MeterBackfillsRepository,
    MeterUsageService,
    ProveUsage,
    VoidUsage,
    StoredEvents,
    UsageEventsService,
    UsagePurge,
    UsageReader,
    UsageService,
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
    MeterUsageService,
    FinalUsageService,
    UsageBillingService,
    UsageService,
    UsageStore,
    UsageStreams,
    UsageHooks,
    UsageWindows,
  ],
})
export class MeteringModule {}
