import type { ReactNode } from 'react';
import { showCode, showDay } from '../format/text';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import { Status } from '../ui/status';

export function MetersPage(): ReactNode {
  return (
    <Page title="Meters">
      <ListView
        path="/v1/meters"
        label="Meters"
        nouns={['meter', 'meters']}
        columns={[
          {
            title: 'Name',
            full: ({ name }) => name,
            cell: ({ id, name }) => <ObjectLink id={id} label={name} />,
          },
          { title: 'Key', cell: ({ key }) => key },
          {
            title: 'Event',
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
