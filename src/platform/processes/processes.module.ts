import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AbandonedWork } from './abandoned-work';
import { ClaimedBatchEntity } from './claimed-batch.entity';
import { Claims } from './claims';
import { ClockCheck } from './clock-check';
import { ProcessSession } from './process-session';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ClaimedBatchEntity])],
  providers: [AbandonedWork, Claims, ClockCheck, ProcessSession],
  exports: [AbandonedWork, Claims, ClockCheck, ProcessSession],
})
export class ProcessesModule {}
