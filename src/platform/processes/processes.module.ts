import { Global, Module } from '@nestjs/common';
import { AbandonedWork } from './abandoned-work';
import { Claims } from './claims';
import { ClockCheck } from './clock-check';
import { PreviousRelease } from './previous-release';
import { ProcessSession } from './process-session';
import { ReturnedLeases } from './returned-leases';

@Global()
@Module({
  providers: [AbandonedWork, Claims, ClockCheck, PreviousRelease, ProcessSession, ReturnedLeases],
  exports: [AbandonedWork, Claims, ClockCheck, PreviousRelease, ProcessSession, ReturnedLeases],
})
export class ProcessesModule {}
