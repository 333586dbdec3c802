export { postponedUntil } from './postpone';
export { TestClockPurges } from './test-clock-purges';
export { TestClockJobs } from './test-clock-jobs';
export { testClockAdvancing, testClockFailed } from './test-clocks.errors';
export { TestClocksModule } from './test-clocks.module';
export { TestClocksService } from './test-clocks.service';
