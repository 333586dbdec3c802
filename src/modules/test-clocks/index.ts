export { TestClockRemovals } from './test-clock-removals';
export { TestClockWorks } from './test-clock-work';
export { testClockAdvancing, testClockFailed } from './test-clocks.errors';
export { TestClocksModule } from './test-clocks.module';
export { TestClocksService } from './test-clocks.service';
