import { Global, Module } from '@nestjs/common';
import { AbandonedWork } from './abandoned-work';
import { Claims } from './claims';
import { ClockCheck } from './clock-check';
import { ProcessSession } from './process-session';

@Global()
@Module({
  providers: [AbandonedWork, Claims, ClockCheck, ProcessSession],
  exports: [AbandonedWork, Claims, ClockCheck, ProcessSession],
})
export class ProcessesModule {}
