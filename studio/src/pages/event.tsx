import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api } from '../api/client';
import { showInstant, showText } from '../format/text';
import { Id, ObjectLink } from '../ui/links';
import { PendingPage } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Json } from '../ui/json';
import { objectIdOf } from './event-object';

export function EventPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const event = $api.useQuery('get', '/v1/events/{id}', { params: { path: { id } } });
  const { data } = event;
  if (data === undefined) return <PendingPage title="Event" query={event} />;
  return (
    <Page title={data.type} query={event} crumb={{ to: '/events', label: 'Events' }}>
      <Card title="Overview">
        <Details
          items={[
            ['Time', showInstant(data.timestamp)],
            ['Object', <ObjectLink key="object" id={objectIdOf(data)} />],
            ['By', showText(data.actor)],
            ['Sequence', String(data.sequence)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      {data.data === null ? (
        <Card title="Data">
          <p>The data of this event is missing or damaged in the database.</p>
        </Card>
      ) : (
        <>
          <Card title="Previous values of changed fields">
            <Json value={data.data.previous} label="Previous values" />
          </Card>
          <Card title="Object after the change">
            <Json value={data.data.object} label="Object" />
          </Card>
        </>
      )}
    </Page>
  );
}
