export { AbandonedWork } from './abandoned-work';
export { Claims } from './claims';
export { ClockCheck } from './clock-check';
export { ProcessSession } from './process-session';
export { ProcessesModule } from './processes.module';
export { type HeldLease, ReturnedLeases } from './returned-leases';
