import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomersModule } from '../customers';
import { TestClocksModule } from '../test-clocks';
import { MeterEntity } from './meter.entity';
import { AppendUsage } from './store/append-usage';
import { PostgresUsageStore } from './store/postgres-usage-store';
import { UsageBucketEntity } from './store/usage-bucket.entity';
import { UsageDistinctValueEntity } from './store/usage-distinct-value.entity';
import { UsageEventEntity } from './store/usage-event.entity';
import { UsageStreamEntity } from './store/usage-stream.entity';
import { UsageRemoval } from './store/usage-removal';
import { UsageStore } from './store/usage-store';
import { UsageStreams } from './store/usage-streams';
import { UsageTallyEntity } from './store/usage-tally.entity';
import { UsageWindowEntity } from './store/usage-window.entity';
import { UsageBilledEntity } from './usage-billed.entity';
import { UsageEventsController } from './usage-events.controller';
import { UsageEventsService } from './usage-events.service';

@Module({
  imports: [
    CustomersModule,
    TestClocksModule,
    TypeOrmModule.forFeature([
      MeterEntity,
      UsageBilledEntity,
      UsageBucketEntity,
      UsageDistinctValueEntity,
      UsageEventEntity,
      UsageStreamEntity,
      UsageTallyEntity,
      UsageWindowEntity,
    ]),
  ],
  controllers: [UsageEventsController],
  providers: [
    AppendUsage,
    UsageEventsService,
    UsageRemoval,
    UsageStreams,
    { provide: UsageStore, useClass: PostgresUsageStore },
  ],
})
export class MeteringModule {}
