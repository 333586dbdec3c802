import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import type { Clock } from '../api/objects';
import { showInstant } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import { Id } from '../ui/links';
import { Card, Details, Page, PendingPage } from '../ui/page';
import { Status } from '../ui/status';
import { toInputText, toInstant } from './utc-input';

const POLL_MS = 1_000;

function afterMonth(instant: string): string {
  const at = new Date(instant);
  at.setUTCMonth(at.getUTCMonth() + 1);
  return at.toISOString();
}

function AdvanceDialog({
  clock,
  onClose,
}: {
  readonly clock: Clock;
  readonly onClose: () => void;
}): ReactNode {
  const [text, setText] = useState(() => toInputText(afterMonth(clock.now)));
  const to = toInstant(text);
  const fault = to === null || to <= clock.now ? `A time after ${showInstant(clock.now)}.` : null;
  return (
    <ActionDialog<Clock>
      title={`Advance ${clock.name.slice(0, 80)}`}
      submitLabel="Advance"
      request={(idempotencyKey) => {
        if (to === null || fault !== null) return null;
        const body = { to } satisfies Schemas['AdvanceTestClockDto'];
        return {
          method: 'POST',
          path: `/v1/test-clocks/${clock.id}/advance`,
          body,
          idempotencyKey,
        };
      }}
      done={() => 'Advancing. What falls due on the way is done in order.'}
      onClose={onClose}
    >
      <TextInput
        label="To (UTC)"
        type="datetime-local"
        autoFocus
        value={text}
        fault={fault}
        onChange={setText}
      />
    </ActionDialog>
  );
}

export function TestClockPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [isAdvancing, setIsAdvancing] = useState(false);
  const { data, error } = $api.useQuery(
    'get',
    '/v1/test-clocks/{id}',
    { params: { path: { id } } },
    { refetchInterval: ({ state }) => (state.data?.status === 'advancing' ? POLL_MS : false) },
  );
  if (data === undefined) return <PendingPage title="Test clock" error={error} />;
  return (
    <Page
      title={data.name}
      mark={<Status value={data.status} />}
      crumb={{ to: '/test-clocks', label: 'Test clocks' }}
      actions={
        <Button
          kind="primary"
          needs="test-clocks:write"
          disabled={data.status === 'advancing'}
          onClick={() => setIsAdvancing(true)}
        >
          Advance…
        </Button>
      }
    >
      <Card title="Overview">
        <Details
          items={[
            ['Its time', showInstant(data.now)],
            ['Advances to', showInstant(data.advances_to)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      {isAdvancing && <AdvanceDialog clock={data} onClose={() => setIsAdvancing(false)} />}
    </Page>
  );
}
