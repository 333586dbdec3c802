export { allEvents, defineEvents, exampleEvent } from './define-event';
export type { DomainEvent, EventDefinition } from './define-event';
export { EventLog, UNDISPATCHED } from './event-log';
export type { EventHead, RecordedEvent } from './event-log';
export type { EventLogFilter } from './event-page';
export { DISPATCH_WORK, Outbox, shownEventRecord, toEventRecord } from './outbox';
export type { EventRecord } from './outbox';
export { OutboxModule } from './outbox.module';
