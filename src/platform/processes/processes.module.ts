import { Global, Module } from '@nestjs/common';
import { AbandonedWork } from './abandoned-work';
import { Claims } from './claims';
import { ClockCheck } from './clock-check';
import { ProcessSession } from './process-session';
import { ReturnedLeases } from './returned-leases';

@Global()
@Module({
  providers: [AbandonedWork, Claims, ClockCheck, ProcessSession, ReturnedLeases],
  exports: [AbandonedWork, Claims, ClockCheck, ProcessSession, ReturnedLeases],
})
export class ProcessesModule {}
