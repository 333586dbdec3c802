import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api, api, read, type Schemas } from '../api/client';
import type { Clock } from '../api/objects';
import { showCode, showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import { Id } from '../ui/links';
import { Failure, PendingPage } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Status } from '../ui/status';
import css from '../ui/ui.module.css';
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

/** An advance to a certain instant, as it was when the dialog opened, so that a repeated request has the same instant. */
interface CertainAdvance {
  readonly to: string;
  readonly title: string;
  readonly submitLabel: string;
  readonly text: string;
}

function nextEvent({ name }: Clock, to: string, work: readonly string[]): CertainAdvance {
  return {
    to,
    title: `Advance ${name.slice(0, 80)} to its next event`,
    submitLabel: 'Advance',
    text: `${showInstant(to)}: ${work.map(showCode).join(', ')}.`,
  };
}

function continued({ name }: Clock, to: string): CertainAdvance {
  return {
    to,
    title: `Continue the advance of ${name.slice(0, 80)}`,
    submitLabel: 'Continue',
    text: `To ${showInstant(to)}. If the advance still runs, this is refused and changes nothing.`,
  };
}

function CertainAdvanceDialog({
  clock,
  advance: { to, title, submitLabel, text },
  onClose,
}: {
  readonly clock: Clock;
  readonly advance: CertainAdvance;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <ActionDialog<Clock>
      title={title}
      action="Advance a test clock"
      submitLabel={submitLabel}
      request={(idempotencyKey) => ({
        method: 'POST',
        path: `/v1/test-clocks/${clock.id}/advance`,
        body: { to } satisfies Schemas['AdvanceTestClockDto'],
        idempotencyKey,
      })}
      done={({ now }) => `It is ${showInstant(now)}.`}
      onClose={onClose}
    >
      <p>{text}</p>
    </ActionDialog>
  );
}

export function TestClockPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [dialog, setDialog] = useState<'advance' | CertainAdvance | null>(null);
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
  const next = useQuery({
    // Another caller may have advanced the clock.
    queryKey: ['next event', id, data?.now],
    queryFn: () => read(api.GET('/v1/test-clocks/{id}/next', { params: { path: { id } } })),
    enabled: data?.status === 'ready',
  });
  if (data === undefined) return <PendingPage title="Test clock" query={clock} />;
  const due = data.status === 'ready' ? next.data : undefined;
  const dueAt = due?.due_at ?? null;
  const target = data.status === 'advancing' ? data.advances_to : null;
  const close = (): void => setDialog(null);
  return (
    <Page
      title={data.name}
      query={clock}
      mark={<Status value={data.status} />}
      crumb={{ to: '/test-clocks', label: 'Test clocks' }}
      actions={
        <>
          {target === null ? (
            <Button
              needs="test-clocks:write"
              disabled={data.status !== 'ready'}
              onClick={() => setDialog('advance')}
            >
              Advance…
            </Button>
          ) : (
            <Button needs="test-clocks:write" onClick={() => setDialog(continued(data, target))}>
              Continue…
            </Button>
          )}
          <Button
            kind="primary"
            needs="test-clocks:write"
            disabled={dueAt === null}
            onClick={() => dueAt !== null && setDialog(nextEvent(data, dueAt, due?.work ?? []))}
          >
            Next event…
          </Button>
        </>
      }
    >
      {data.status === 'failed' && (
        <p className={css['notice']}>
          Work that fell due failed; the reason is in the log of the service. The clock can no
          longer be advanced, only deleted.
        </p>
      )}
      <Card title="Overview">
        <Details
          items={[
            ['Its time', showInstant(data.now)],
            ['Next event', showInstant(dueAt)],
            ['What falls due', showText(due?.work.map(showCode).join(', '))],
            ['Advances to', showInstant(data.advances_to)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
        <Failure query={next} />
      </Card>
      <Timeline of={{ test_clock_id: id }} asOf={target ?? data.updated_at} />
      {dialog === 'advance' && <AdvanceDialog clock={data} onClose={close} />}
      {dialog !== null && dialog !== 'advance' && (
        <CertainAdvanceDialog clock={data} advance={dialog} onClose={close} />
      )}
    </Page>
  );
}
