import { type ReactNode, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { showCode, showText } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import { ObjectLink } from '../ui/links';
import { LoadedRows } from '../ui/loaded';
import { Card, Page } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';
import { Deliveries } from './deliveries';

const ENDPOINTS_SHOWN = 100;

type Created = Schemas['CreatedWebhookEndpointDto'];

function NewEndpointDialog({
  onDone,
  onClose,
}: {
  readonly onDone: (created: Created) => void;
  readonly onClose: () => void;
}): ReactNode {
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState('*');
  const body = {
    url: url.trim(),
    events: events.split(/[\s,]+/).filter((type) => type !== ''),
  } satisfies Schemas['CreateWebhookEndpointDto'];
  return (
    <ActionDialog<Created>
      title="New endpoint"
      submitLabel="Create"
      request={(idempotencyKey) =>
        body.url === '' || body.events.length === 0
          ? null
          : { method: 'POST', path: '/v1/webhooks/endpoints', body, idempotencyKey }
      }
      done={() => 'Created. Deliveries begin with the next event.'}
      onDone={onDone}
      onClose={onClose}
    >
      <TextInput label="URL" type="url" autoFocus isRequired value={url} onChange={setUrl} />
      <TextInput
        label="Event types"
        hint="Separated by commas: * for all, invoice.* for those of invoices."
        value={events}
        onChange={setEvents}
      />
    </ActionDialog>
  );
}

export function WebhooksPage(): ReactNode {
  const [isCreating, setIsCreating] = useState(false);
  const [unknown, setUnknown] = useState<readonly string[]>([]);
  const endpoints = $api.useQuery('get', '/v1/webhooks/endpoints', {
    params: { query: { limit: ENDPOINTS_SHOWN } },
  });
  return (
    <Page
      title="Webhooks"
      actions={
        <Button kind="primary" needs="webhooks:write" onClick={() => setIsCreating(true)}>
          New endpoint…
        </Button>
      }
    >
      {unknown.length > 0 && (
        <p className={css['notice']} role="alert">
          The new endpoint names event types that do not exist: <bdi>{unknown.join(', ')}</bdi>. It
          receives nothing for them. Mistyped ones can be corrected with{' '}
          <code>PATCH /v1/webhooks/endpoints/&#123;id&#125;</code>.
        </p>
      )}
      <Card title="Endpoints">
        <LoadedRows query={endpoints}>
          {(rows) => (
            <SmallTable
              label="Endpoints"
              rows={rows}
              keyOf={({ id }) => id}
              empty="No endpoints. Create one to receive events."
              columns={[
                {
                  title: 'URL',
                  full: ({ url }) => url,
                  cell: ({ id, url }) => <ObjectLink id={id} label={url} />,
                },
                {
                  title: 'Status',
                  cell: ({ is_active, disabled_reason }) => (
                    <Status value={is_active ? 'active' : (disabled_reason ?? 'inactive')} />
                  ),
                },
                {
                  title: 'Events',
                  cell: ({ events }) => events.join(', '),
                },
                {
                  title: 'Description',
                  cell: ({ description }) => showText(description),
                },
                { title: 'Order', cell: ({ ordered }) => (ordered ? showCode('in_order') : 'Any') },
              ]}
            />
          )}
        </LoadedRows>
      </Card>
      <Deliveries endpointId={null} />
      {isCreating && (
        <NewEndpointDialog
          onDone={({ unknown_events = [] }) => setUnknown(unknown_events)}
          onClose={() => setIsCreating(false)}
        />
      )}
    </Page>
  );
}
