export { Jobs } from './jobs';
export { JobsModule } from './jobs.module';
export { Signals } from './signals';
export { runAsBatch } from './run-as-batch';
export { type WaitingRows, WaitingRowsRepository } from './waiting-rows.repository';
