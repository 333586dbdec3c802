import type { ReactNode } from 'react';
import { showInstant, showText } from '../format/text';
import type { Filter } from '../ui/filters';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import { objectIdOf } from './event-object';

const FILTERS: readonly Filter[] = [
  { name: 'type', label: 'Type', kind: 'text', placeholder: 'invoice.paid' },
  { name: 'object_id', label: 'Object id', kind: 'text' },
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
  { name: 'test_clock_id', label: 'Test clock id', kind: 'text' },
  { name: 'actor', label: 'By', kind: 'text', placeholder: 'admin_… or worker' },
  { name: 'from', label: 'From (UTC)', kind: 'date' },
  { name: 'to', label: 'Before (UTC)', kind: 'date' },
];

export function EventsPage(): ReactNode {
  return (
    <Page title="Events">
      <ListView
        path="/v1/events"
        label="Events"
        nouns={['event', 'events']}
        filters={FILTERS}
        columns={[
          { title: 'Time', cell: ({ timestamp }) => showInstant(timestamp) },
          { title: 'Type', cell: ({ id, type }) => <ObjectLink id={id} label={type} /> },
          { title: 'Object', cell: (event) => <ObjectLink id={objectIdOf(event)} /> },
          { title: 'By', cell: ({ actor }) => showText(actor) },
          { title: 'Sequence', isNumber: true, cell: ({ sequence }) => sequence },
        ]}
        empty="No events yet. Every change of state records one."
      />
    </Page>
  );
}
