import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api, api, read, type Schemas } from '../api/client';
import type { Delivery } from '../api/objects';
import { showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { type Filter, FilterBar, useFilters } from '../ui/filters';
import { Id, ObjectLink } from '../ui/links';
import { Card, Details, Page, PendingPage } from '../ui/page';
import { Status } from '../ui/status';
import { List } from '../ui/table';

const STATUSES: readonly Delivery['status'][] = ['pending', 'succeeded', 'failed', 'discarded'];

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    options: STATUSES.map((status) => [status, status]),
  },
];

export function ResendDialog({
  delivery,
  onClose,
}: {
  readonly delivery: Delivery;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <ActionDialog
      title={`Resend ${delivery.event_type}`}
      submitLabel="Resend"
      request={(idempotencyKey) => ({
        method: 'POST',
        path: `/v1/webhooks/deliveries/${delivery.id}/retry`,
        idempotencyKey,
      })}
      done={() => 'A new delivery is pending.'}
      onClose={onClose}
    >
      <p>Sends the event again, as a delivery of its own with the same event id.</p>
    </ActionDialog>
  );
}

function Deliveries({ endpointId }: { readonly endpointId: string }): ReactNode {
  const [values, onChange, onClear] = useFilters(FILTERS);
  const [resending, setResending] = useState<Delivery | null>(null);
  const filters = values as { readonly status?: Delivery['status'] };
  return (
    <>
      <h2>Deliveries</h2>
      <List<Schemas['WebhookDeliveryDto']>
        label="Deliveries"
        nouns={['delivery', 'deliveries']}
        keyOf={({ id }) => id}
        queryKey={[endpointId, values]}
        load={(query) =>
          read(
            api.GET('/v1/webhooks/endpoints/{id}/deliveries', {
              params: { path: { id: endpointId }, query: { ...query, ...filters } },
            }),
          )
        }
        columns={[
          {
            title: 'Event',
            cell: ({ id, event_type }) => <ObjectLink id={id} label={event_type} />,
          },
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
          { title: 'Kind', cell: ({ kind }) => kind },
          { title: 'Attempts', isNumber: true, cell: ({ attempt_count }) => attempt_count },
          { title: 'Created', cell: ({ created_at }) => showInstant(created_at) },
          { title: 'Next attempt', cell: ({ next_attempt_at }) => showInstant(next_attempt_at) },
          {
            title: 'Actions',
            isNumber: true,
            // A pending delivery is sent anyway.
            cell: (delivery) =>
              delivery.status !== 'pending' && (
                <Button
                  kind="quiet"
                  aria-label={`Resend ${delivery.event_type} of ${showInstant(delivery.created_at)}`}
                  onClick={() => setResending(delivery)}
                >
                  Resend…
                </Button>
              ),
          },
        ]}
        filters={
          <FilterBar filters={FILTERS} values={values} onChange={onChange} onClear={onClear} />
        }
        empty="No deliveries. Send a test event to try the endpoint."
      />
      {resending !== null && (
        <ResendDialog delivery={resending} onClose={() => setResending(null)} />
      )}
    </>
  );
}

export function WebhookEndpointPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [isTesting, setIsTesting] = useState(false);
  const { data, error } = $api.useQuery('get', '/v1/webhooks/endpoints/{id}', {
    params: { path: { id } },
  });
  if (data === undefined) return <PendingPage title="Endpoint" error={error} />;
  return (
    <Page
      title={data.url}
      mark={<Status value={data.is_active ? 'active' : (data.disabled_reason ?? 'inactive')} />}
      crumb={{ to: '/webhooks', label: 'Webhooks' }}
      actions={<Button onClick={() => setIsTesting(true)}>Send a test event…</Button>}
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
