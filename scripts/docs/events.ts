import { exampleOf } from '../../src/platform/http';
import { allEvents, exampleEvent } from '../../src/platform/outbox';
import { page, table } from './markdown';

const INTRODUCTION = `# Events

<!-- Generated from the \`*.events.ts\` files by \`npm run docs:write\`; do not edit. -->

An event is written in the transaction of the change it describes, and carries the resource as the API shows it at that
moment. Webhook endpoints subscribe to types, to \`coupon.*\` or to \`*\`; [webhooks.md](webhooks.md) describes their
delivery.

\`timestamp\` is the time of the change. For a customer on a [test clock](../src/modules/test-clocks/README.md) it is the time of that clock
where the change is about the customer, its payment methods, subscriptions, invoices, credit notes, payments, refunds or disputes
([decision 207](decisions/0207-test-clocks-date-refunds-and-prepayments.md)). Tokens, setups of payment methods, provider discrepancies,
and late or voided usage, happen in real time.`;

/** Renders docs/events.md: every event type, with an example. The modules must be loaded first. */
export function renderEvents(): string {
  const rows = allEvents().map(({ type, meaning }) => [`[\`${type}\`](#${type})`, meaning]);
  const sections = allEvents().flatMap((event) => [
    '',
    `## <a id="${event.type}"></a>\`${event.type}\``,
    '',
    event.meaning,
    '',
    '```json',
    JSON.stringify(exampleEvent(event, exampleOf(event.dto)), null, 2),
    '```',
  ]);
  return page(INTRODUCTION, '', ...table(['Type', 'Meaning'], rows), ...sections);
}
