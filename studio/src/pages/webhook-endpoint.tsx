import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import { showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { Id } from '../ui/links';
import { PendingPage } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Status } from '../ui/status';
import { Deliveries } from './deliveries';

export function WebhookEndpointPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [isTesting, setIsTesting] = useState(false);
  const endpoint = $api.useQuery('get', '/v1/webhooks/endpoints/{id}', {
    params: { path: { id } },
  });
  const { data } = endpoint;
  if (data === undefined) return <PendingPage title="Endpoint" query={endpoint} />;
  return (
    <Page
      title={data.url}
      query={endpoint}
      mark={<Status value={data.is_active ? 'active' : (data.disabled_reason ?? 'inactive')} />}
      crumb={{ to: '/webhooks', label: 'Webhooks' }}
      actions={
        <Button needs="webhooks:write" onClick={() => setIsTesting(true)}>
          Send a test event…
        </Button>
      }
    >
      <Card title="Overview">
        <Details
          items={[
            ['Events', data.events.join(', ')],
            ['Description', showText(data.description)],
            ['In order', data.ordered ? 'Yes' : 'No'],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      <Deliveries endpointId={id} />
      {isTesting && (
        <ActionDialog
          title="Send a test event"
          submitLabel="Send"
          request={(idempotencyKey) => ({
            method: 'POST',
            path: `/v1/webhooks/endpoints/${id}/test`,
            idempotencyKey,
          })}
          done={() => 'A test event is pending.'}
          onClose={() => setIsTesting(false)}
        />
      )}
    </Page>
  );
}
