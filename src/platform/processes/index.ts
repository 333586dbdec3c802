export { AbandonedWork } from './abandoned-work';
export { Claims } from './claims';
export { ClockCheck } from './clock-check';
export { NO_SESSION, ProcessSession } from './process-session';
export { ProcessesModule } from './processes.module';
export {
  FREQUENT_ATTEMPTS,
  type HeldLease,
  LATE_ATTEMPTS,
  ReturnedLeases,
} from './returned-leases';
