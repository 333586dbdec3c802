export { postponedUntil } from './postpone';
export { TestClockParticipants } from './test-clock-participants';
export { testClockAdvancing, testClockFailed } from './test-clocks.errors';
export { TestClocksModule } from './test-clocks.module';
export { TestClocksService } from './test-clocks.service';
