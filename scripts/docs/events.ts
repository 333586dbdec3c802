import { allEvents } from '../../src/platform/outbox';
import { anchored, page, table } from './markdown';

const INTRODUCTION = `# Events

<!-- Generated from the \`*.events.ts\` files by \`npm run docs:write\`; do not edit. -->

An event is written in the transaction of the change it tells of, and carries the resource as the API shows it at that
moment. Webhook endpoints subscribe to types, to \`coupon.*\` or to \`*\`.`;

/** docs/events.md: every type of event. Needs the modules to be loaded. */
export function renderEvents(): string {
  const rows = allEvents().map(({ type, meaning }) => [anchored(type), meaning]);
  return page(INTRODUCTION, '', ...table(['Type', 'Meaning'], rows));
}
