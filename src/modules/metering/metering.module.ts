import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MeterEntity } from './meter.entity';
import { UsageBucketEntity } from './store/usage-bucket.entity';
import { UsageDistinctValueEntity } from './store/usage-distinct-value.entity';
import { UsageEventEntity } from './store/usage-event.entity';
import { UsageStreamEntity } from './store/usage-stream.entity';
import { UsageTallyEntity } from './store/usage-tally.entity';
import { UsageWindowEntity } from './store/usage-window.entity';
import { UsageBilledEntity } from './usage-billed.entity';

@Module({
  imports: [
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
})
export class MeteringModule {}
