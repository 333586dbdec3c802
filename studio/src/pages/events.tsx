import type { ReactNode } from 'react';
import { api, read, type Schemas } from '../api/client';
import { showInstant, showText } from '../format/text';
import { type Filter, FilterBar, type FilterValues, useFilters } from '../ui/filters';
import { ObjectLink } from '../ui/links';
import { Page } from '../ui/page';
import { List } from '../ui/table';

const FILTERS: readonly Filter[] = [
  { name: 'type', label: 'Type', kind: 'text', placeholder: 'invoice.paid' },
  { name: 'object_id', label: 'Object id', kind: 'text' },
  { name: 'from', label: 'From (UTC)', kind: 'date' },
  { name: 'to', label: 'Before (UTC)', kind: 'date' },
];

/** Returns the filters with days as instants. */
function instantsOf({ from, to, ...others }: FilterValues): Record<string, string> {
  return {
    ...others,
    ...(from !== undefined && { from: `${from}T00:00:00Z` }),
    ...(to !== undefined && { to: `${to}T00:00:00Z` }),
  };
}

export function objectIdOf(data: { readonly object: object }): string | null {
  const id: unknown = (data.object as { readonly id?: unknown }).id;
  return typeof id === 'string' ? id : null;
}

export function EventsPage(): ReactNode {
  const [values, onChange, onClear] = useFilters(FILTERS);
  return (
    <Page title="Events">
      <List<Schemas['EventDto']>
        label="Events"
        nouns={['event', 'events']}
        keyOf={({ id }) => id}
        queryKey={[values]}
        load={(query) =>
          read(api.GET('/v1/events', { params: { query: { ...query, ...instantsOf(values) } } }))
        }
        columns={[
          { title: 'Time', cell: ({ timestamp }) => showInstant(timestamp) },
          { title: 'Type', cell: ({ id, type }) => <ObjectLink id={id} label={type} /> },
          { title: 'Object', cell: ({ data }) => <ObjectLink id={objectIdOf(data)} /> },
          { title: 'By', full: ({ actor }) => actor ?? '', cell: ({ actor }) => showText(actor) },
          { title: 'Sequence', isNumber: true, cell: ({ sequence }) => sequence },
        ]}
        filters={
          <FilterBar filters={FILTERS} values={values} onChange={onChange} onClear={onClear} />
        }
        empty="No events yet. Every change of state records one."
      />
    </Page>
  );
}
