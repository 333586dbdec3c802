import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import { showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { Id, ObjectLink } from '../ui/links';
import { PendingPage } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { SmallTable } from '../ui/table';
import { DeliveryStatus, ResendDialog } from './deliveries';

export function WebhookDeliveryPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [isResending, setIsResending] = useState(false);
  const delivery = $api.useQuery('get', '/v1/webhooks/deliveries/{id}', {
    params: { path: { id } },
  });
  const { data } = delivery;
  if (data === undefined) return <PendingPage title="Delivery" query={delivery} />;
  return (
    <Page
      title={`Delivery of ${data.event_type}`}
      query={delivery}
      mark={<DeliveryStatus delivery={data} />}
      crumb={{ to: '/webhooks', label: 'Webhooks' }}
      actions={
        // No button for a pending delivery, because the service will send it.
        data.status !== 'pending' && (
          <Button needs="webhooks:write" onClick={() => setIsResending(true)}>
            Resend…
          </Button>
        )
      }
    >
      <Card title="Overview">
        <Details
          items={[
            ['Endpoint', <ObjectLink key="endpoint" id={data.endpoint_id} />],
            ['Event', <ObjectLink key="event" id={data.event_id} />],
            ['Kind', data.kind],
            ['Created', showInstant(data.created_at)],
            ['Next attempt', showInstant(data.next_attempt_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      <Card title="Attempts">
        <SmallTable
          label="Attempts"
          rows={data.attempts}
          keyOf={({ number }) => String(number)}
          empty="No attempts yet."
          columns={[
            { title: 'Attempt', isNumber: true, cell: ({ number }) => number },
            { title: 'Started', cell: ({ started_at }) => showInstant(started_at) },
            { title: 'Took (ms)', isNumber: true, cell: ({ duration_ms }) => duration_ms },
            { title: 'Status', isNumber: true, cell: ({ status_code }) => status_code ?? '–' },
            {
              title: 'Error',
              cell: (attempt) => showText(attempt.error),
            },
            {
              title: 'Answer',
              full: ({ response_start }) => response_start ?? '',
              cell: ({ response_start }) => (
                <span className="mono">{showText(response_start)}</span>
              ),
            },
          ]}
        />
      </Card>
      {isResending && <ResendDialog delivery={data} onClose={() => setIsResending(false)} />}
    </Page>
  );
}
