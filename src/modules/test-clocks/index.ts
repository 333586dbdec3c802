export { type DueQueue, DueQueues } from './due-queues';
export type { DueTable } from './due-rows.repository';
export { RealTimeFilter } from './real-time-filter';
export { purgeProvider } from './purge-provider';
export {
  type KeepLease,
  type TestClockJob,
  TestClockParticipants,
} from './test-clock-participants';
export { TEST_CLOCK_PROBLEMS, testClockFailed, testClockNotFound } from './test-clocks.errors';
export { TestClocksModule } from './test-clocks.module';
export { TestClocksService } from './test-clocks.service';
