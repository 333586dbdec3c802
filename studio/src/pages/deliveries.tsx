import { type ReactNode, useMemo, useState } from 'react';
import type { Schemas } from '../api/client';
import type { Delivery } from '../api/objects';
import { showCode, showInstant, showNumber } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { type Filter, type FilterValues, optionsOf } from '../ui/filters';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Status } from '../ui/status';
import type { Column } from '../ui/table';

const STATUSES: readonly Delivery['status'][] = ['pending', 'succeeded', 'failed', 'discarded'];

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choice', options: optionsOf(STATUSES) },
  { name: 'event_type', label: 'Event type', kind: 'text', placeholder: 'invoice.paid' },
  { name: 'from', label: 'From (UTC)', kind: 'date' },
  { name: 'to', label: 'Before (UTC)', kind: 'date' },
];

const FILTERS_OF_ENDPOINT: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choice', options: optionsOf(STATUSES) },
];

export function DeliveryStatus({
  delivery: { status, attempt_count },
}: {
  readonly delivery: Pick<Delivery, 'status' | 'attempt_count'>;
}): ReactNode {
  return <Status value={status === 'pending' && attempt_count > 0 ? 'retrying' : status} />;
}

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

const NOUNS = ['delivery', 'deliveries'] as const;

type RetriedStatus = Schemas['RetryDeliveriesDto']['status'][number];

/** Resends the deliveries that match the filters: the failed ones, unless the filters name a status. */
function ResendAll({
  filters: { status = 'failed', ...filters },
  endpointId,
  isRead,
}: {
  readonly filters: FilterValues;
  readonly endpointId: string | null;
  /** False while the list is loading or cannot be read. */
  readonly isRead: boolean;
}): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  if (status !== 'failed' && status !== 'discarded') return null;
  const body = {
    ...filters,
    ...(endpointId !== null && { endpoint_id: endpointId }),
    status: [status satisfies RetriedStatus],
  } satisfies Schemas['RetryDeliveriesDto'];
  return (
    <>
      <Button needs="webhooks:write" disabled={!isRead} onClick={() => setIsOpen(true)}>
        Resend all {status}…
      </Button>
      {isOpen && (
        <ActionDialog<Schemas['RetriedDeliveriesDto']>
          title={`Resend ${status} deliveries`}
          submitLabel="Resend"
          request={(idempotencyKey) => ({
            method: 'POST',
            path: '/v1/webhooks/deliveries/retry',
            body,
            idempotencyKey,
          })}
          done={({ retried, has_more }) =>
            `${showNumber(retried)} ${NOUNS[retried === 1 ? 0 : 1]} pending.${has_more ? ' There are more: resend again.' : ''}`
          }
          onClose={() => setIsOpen(false)}
        >
          <p>
            {showCode(status)} deliveries that the filters leave are sent again, the oldest first,
            at most 1,000 at once. Events that were sent again since, and endpoints that are
            inactive, are left out.
          </p>
        </ActionDialog>
      )}
    </>
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
      cell: (delivery) => <DeliveryStatus delivery={delivery} />,
    },
    { title: 'Kind', cell: ({ kind }) => kind },
    { title: 'Attempts', isNumber: true, cell: ({ attempt_count }) => attempt_count },
    { title: 'Created', cell: ({ created_at }) => showInstant(created_at) },
    { title: 'Next attempt', cell: ({ next_attempt_at }) => showInstant(next_attempt_at) },
    {
      title: 'Actions',
      isNumber: true,
      // No button for a pending delivery, because the service will send it.
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

/** Deliveries of one endpoint, or of all endpoints (null). */
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
          actions={(filters, isRead) => (
            <ResendAll filters={filters} endpointId={null} isRead={isRead} />
          )}
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
          actions={(filters, isRead) => (
            <ResendAll filters={filters} endpointId={endpointId} isRead={isRead} />
          )}
          empty="No deliveries. Send a test event to try the endpoint."
        />
      )}
      {resending !== null && (
        <ResendDialog delivery={resending} onClose={() => setResending(null)} />
      )}
    </>
  );
}
