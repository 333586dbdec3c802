import type { ReactNode } from 'react';
import { api, read, type Schemas } from '../api/client';
import { showCode, showDay } from '../format/text';
import { ObjectLink } from '../ui/links';
import { Page } from '../ui/page';
import { Status } from '../ui/status';
import { List } from '../ui/table';

export function MetersPage(): ReactNode {
  return (
    <Page title="Meters">
      <List<Schemas['MeterDto']>
        label="Meters"
        nouns={['meter', 'meters']}
        keyOf={({ id }) => id}
        queryKey={[]}
        load={(query) => read(api.GET('/v1/meters', { params: { query } }))}
        columns={[
          {
            title: 'Name',
            full: ({ name }) => name,
            cell: ({ id, name }) => <ObjectLink id={id} label={name} />,
          },
          { title: 'Key', full: ({ key }) => key, cell: ({ key }) => key },
          {
            title: 'Event',
            full: ({ event_name }) => event_name,
            cell: ({ event_name }) => event_name,
          },
          { title: 'Aggregation', cell: ({ aggregation }) => showCode(aggregation) },
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
          { title: 'Created (UTC)', cell: ({ created_at }) => showDay(created_at) },
        ]}
        empty="No meters. Create one with POST /v1/meters."
      />
    </Page>
  );
}
