export { Jobs } from './jobs';
export type { DueWork } from './jobs';
export { JobsModule } from './jobs.module';
export { Signals } from './signals';
export { runAsBatch } from './run-as-batch';
