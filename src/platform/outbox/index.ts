export { allEvents, defineEvent } from './define-event';
export type { DomainEvent, EventDefinition } from './define-event';
export { Outbox } from './outbox';
export { OutboxModule } from './outbox.module';
