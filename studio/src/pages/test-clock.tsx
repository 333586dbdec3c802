import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import type { Clock } from '../api/objects';
import { showCode, showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import { Id } from '../ui/links';
import { Failure, PendingPage } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Status } from '../ui/status';
import { Timeline } from './timeline';
import { toInputText, toInstant } from './utc-input';

const POLL_MS = 1_000;

/** Returns the same day of the next month, or the last day of a shorter month. */
function afterMonth(instant: string): string {
  const at = new Date(instant);
  const day = at.getUTCDate();
  at.setUTCMonth(at.getUTCMonth() + 1);
  if (at.getUTCDate() !== day) at.setUTCDate(0);
  return at.toISOString();
}

function AdvanceDialog({
  clock,
  onClose,
}: {
  readonly clock: Clock;
  readonly onClose: () => void;
}): ReactNode {
  // Stays the same while the dialog is open, so that a request without a clear answer can be repeated.
  const [now] = useState(clock.now);
  const [text, setText] = useState(() => toInputText(afterMonth(now)));
  const to = toInstant(text);
  const fault = to === null || to <= now ? `A time after ${showInstant(now)}.` : null;
  return (
    <ActionDialog<Clock>
      title={`Advance ${clock.name.slice(0, 80)}`}
      action="Advance a test clock"
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

/** Advances a clock to exactly the instant at which the next work falls due. */
function NextEventDialog({
  clock,
  next: { due_at: to, work },
  onClose,
}: {
  readonly clock: Clock;
  readonly next: Schemas['TestClockNextDto'];
  readonly onClose: () => void;
}): ReactNode {
  return (
    <ActionDialog<Clock>
      title={`Advance ${clock.name.slice(0, 80)} to its next event`}
      action="Advance a test clock"
      submitLabel="Advance"
      request={(idempotencyKey) => {
        if (to === null) return null;
        const body = { to } satisfies Schemas['AdvanceTestClockDto'];
        return {
          method: 'POST',
          path: `/v1/test-clocks/${clock.id}/advance`,
          body,
          idempotencyKey,
        };
      }}
      done={({ now }) => `It is ${showInstant(now)}.`}
      onClose={onClose}
    >
      <p>
        {showInstant(to)}: {work.map(showCode).join(', ')}.
      </p>
    </ActionDialog>
  );
}

export function TestClockPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  // Keeps the next event as it was when the dialog opened, so that a repeated request has the same instant.
  const [dialog, setDialog] = useState<'advance' | Schemas['TestClockNextDto'] | null>(null);
  const clock = $api.useQuery(
    'get',
    '/v1/test-clocks/{id}',
    { params: { path: { id } } },
    {
      refetchInterval: ({ state: { data, error } }) =>
        data?.status === 'advancing' && error === null ? POLL_MS : false,
    },
  );
  const { data } = clock;
  const next = $api.useQuery(
    'get',
    '/v1/test-clocks/{id}/next',
    { params: { path: { id } } },
    { enabled: data?.status === 'ready' },
  );
  if (data === undefined) return <PendingPage title="Test clock" query={clock} />;
  const due = data.status === 'ready' ? next.data : undefined;
  const close = (): void => setDialog(null);
  return (
    <Page
      title={data.name}
      query={clock}
      mark={<Status value={data.status} />}
      crumb={{ to: '/test-clocks', label: 'Test clocks' }}
      actions={
        <>
          <Button
            needs="test-clocks:write"
            disabled={data.status === 'advancing'}
            onClick={() => setDialog('advance')}
          >
            Advance…
          </Button>
          <Button
            kind="primary"
            needs="test-clocks:write"
            disabled={typeof due?.due_at !== 'string'}
            onClick={() => setDialog(due ?? null)}
          >
            Next event…
          </Button>
        </>
      }
    >
      <Card title="Overview">
        <Details
          items={[
            ['Its time', showInstant(data.now)],
            ['Next event', showInstant(due?.due_at ?? null)],
            ['What falls due', showText(due?.work.map(showCode).join(', '))],
            ['Advances to', showInstant(data.advances_to)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
        <Failure query={next} />
      </Card>
      <Timeline of={{ test_clock_id: id }} />
      {dialog === 'advance' && <AdvanceDialog clock={data} onClose={close} />}
      {dialog !== null && dialog !== 'advance' && (
        <NextEventDialog clock={data} next={dialog} onClose={close} />
      )}
    </Page>
  );
}
