import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, read } from '../api/client';
import { showCode, showInstant, showText } from '../format/text';
import { ObjectLink } from '../ui/links';
import { Loaded } from '../ui/loaded';
import { Card } from '../ui/page';
import { SmallTable } from '../ui/table';
import { objectIdOf } from './event-object';

const SHOWN = 25;

/** Selects the events of one object, of one customer with all its objects, or of all customers on one test clock. */
type TimelineOf = Readonly<Partial<Record<'object_id' | 'customer_id' | 'test_clock_id', string>>>;

export interface TimelineProps {
  readonly of: TimelineOf;
  /** State of a test clock. The events are read again when it changes. */
  readonly asOf?: string;
}

/** The newest events, with a link to all of them. */
export function Timeline({ of, asOf }: TimelineProps): ReactNode {
  const whose = JSON.stringify(of);
  const events = useQuery({
    queryKey: ['timeline', whose, asOf],
    // The former events of the same objects are shown while they are read again.
    placeholderData: (former, query) => (query?.queryKey[1] === whose ? former : undefined),
    queryFn: () => read(api.GET('/v1/events', { params: { query: { ...of, limit: SHOWN } } })),
  });
  return (
    <Card
      title="Timeline"
      aside={
        <Link to="/events" search={of as never}>
          All events
        </Link>
      }
    >
      <Loaded query={events}>
        {({ data }) => (
          <SmallTable
            label="Timeline"
            rows={data}
            keyOf={({ id }) => id}
            empty="No events."
            columns={[
              { title: 'Time', cell: ({ timestamp }) => showInstant(timestamp) },
              {
                title: 'Event',
                cell: ({ id, type }) => <ObjectLink id={id} label={showCode(type)} />,
              },
              { title: 'Object', cell: (event) => <ObjectLink id={objectIdOf(event)} /> },
              { title: 'By', cell: ({ actor }) => showText(actor) },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
