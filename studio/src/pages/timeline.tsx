import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, read } from '../api/client';
import { showCode, showInstant, showText } from '../format/text';
import { ObjectLink } from '../ui/links';
import { Card, Problem } from '../ui/page';
import { SmallTable } from '../ui/table';

const SHOWN = 25;

/** The newest events of an object. */
export function Timeline({ objectId }: { readonly objectId: string }): ReactNode {
  const events = useQuery({
    queryKey: ['timeline', objectId],
    queryFn: () =>
      read(api.GET('/v1/events', { params: { query: { object_id: objectId, limit: SHOWN } } })),
  });
  return (
    <Card title="Timeline">
      <Problem error={events.error} />
      <SmallTable
        label="Timeline"
        rows={events.data?.data ?? []}
        keyOf={({ id }) => id}
        empty={events.isLoading ? 'Loading…' : 'No events.'}
        columns={[
          { title: 'Time', cell: ({ timestamp }) => showInstant(timestamp) },
          { title: 'Event', cell: ({ id, type }) => <ObjectLink id={id} label={showCode(type)} /> },
          { title: 'By', cell: ({ actor }) => showText(actor) },
        ]}
      />
    </Card>
  );
}
