import { type ReactNode, useMemo, useState } from 'react';
import type { Delivery } from '../api/objects';
import { showInstant } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { type Filter, optionsOf } from '../ui/filters';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Status } from '../ui/status';
import type { Column } from '../ui/table';

const STATUSES: readonly Delivery['status'][] = ['pending', 'succeeded', 'failed', 'discarded'];

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choices', options: optionsOf(STATUSES) },
  { name: 'event_type', label: 'Event type', kind: 'text', placeholder: 'invoice.paid' },
  { name: 'from', label: 'From (UTC)', kind: 'date' },
  { name: 'to', label: 'Before (UTC)', kind: 'date' },
];

const FILTERS_OF_ENDPOINT: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choice', options: optionsOf(STATUSES) },
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

function columnsOf(onResend: (delivery: Delivery) => void): readonly Column<Delivery>[] {
  return [
    {
      title: 'Event',
      cell: ({ id, event_type }) => <ObjectLink id={id} label={event_type} />,
    },
    {
      title: 'Status',
      cell: ({ status, attempt_count }) => (
        <Status value={status === 'pending' && attempt_count > 0 ? 'retrying' : status} />
      ),
    },
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
            needs="webhooks:write"
            aria-label={`Resend ${delivery.event_type} of ${showInstant(delivery.created_at)}`}
            onClick={() => onResend(delivery)}
          >
            Resend…
          </Button>
        ),
    },
  ];
}

const NOUNS = ['delivery', 'deliveries'] as const;

/** Deliveries of one endpoint, or of all. */
export function Deliveries({ endpointId }: { readonly endpointId: string | null }): ReactNode {
  const [resending, setResending] = useState<Delivery | null>(null);
  const columns = useMemo(() => columnsOf(setResending), []);
  return (
    <>
      <h2>Deliveries</h2>
      {endpointId === null ? (
        <ListView
          path="/v1/webhooks/deliveries"
          label="Deliveries"
          nouns={NOUNS}
          columns={columns}
          filters={FILTERS}
          empty="No deliveries yet. Each event is delivered to the endpoints that ask for it."
        />
      ) : (
        <ListView
          path="/v1/webhooks/endpoints/{id}/deliveries"
          inPath={{ id: endpointId }}
          label="Deliveries"
          nouns={NOUNS}
          columns={columns}
          filters={FILTERS_OF_ENDPOINT}
          empty="No deliveries. Send a test event to try the endpoint."
        />
      )}
      {resending !== null && (
        <ResendDialog delivery={resending} onClose={() => setResending(null)} />
      )}
    </>
  );
}
