export { AbandonedWork } from './abandoned-work';
export { ClockCheck } from './clock-check';
export { ProcessSession } from './process-session';
export { ProcessesModule } from './processes.module';
