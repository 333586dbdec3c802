import { Global, Module } from '@nestjs/common';
import { AbandonedWork } from './abandoned-work';
import { ClockCheck } from './clock-check';
import { ProcessSession } from './process-session';

@Global()
@Module({
  providers: [AbandonedWork, ClockCheck, ProcessSession],
  exports: [AbandonedWork, ClockCheck, ProcessSession],
})
export class ProcessesModule {}
