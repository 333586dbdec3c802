export { allEvents, defineEvent, exampleEvent } from './define-event';
export type { DomainEvent, EventDefinition } from './define-event';
export { EventLog } from './event-log';
export type { EventLogFilter, EventHead, RecordedEvent } from './event-log';
export { DISPATCH_WORK, Outbox, toEventRecord } from './outbox';
export type { EventRecord } from './outbox';
export { OutboxModule } from './outbox.module';
