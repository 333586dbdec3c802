import { type ReactNode, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import type { PageOf } from '../api/lists';
import { showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { PlanLink } from '../ui/links';
import { LoadedRows, type Reading, ROWS_SHOWN } from '../ui/loaded';
import { Card } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';

type ScheduledChange = Schemas['ScheduledChangeDto'];

const nounOf = ({ type }: ScheduledChange): string =>
  type === 'cancel' ? 'cancellation' : 'change';

function UndoDialog({
  subscriptionId,
  change,
  onClose,
}: {
  readonly subscriptionId: string;
  readonly change: ScheduledChange;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <ActionDialog
      title={`Undo the scheduled ${nounOf(change)}`}
      submitLabel="Undo it"
      request={() => ({
        method: 'DELETE',
        path: `/v1/subscriptions/${subscriptionId}/scheduled-changes/${change.id}`,
      })}
      done={() => 'Undone.'}
      onClose={onClose}
    >
      <p>
        Nothing changes on {showInstant(change.effective_at)}. The subscription continues as it is
        now, and can be changed or canceled again.
      </p>
    </ActionDialog>
  );
}

/** Reads the scheduled changes of a subscription, newest first. */
export function useScheduledChanges(subscriptionId: string): Reading<PageOf<ScheduledChange>> {
  return $api.useQuery('get', '/v1/subscriptions/{id}/scheduled-changes', {
    params: { path: { id: subscriptionId }, query: { limit: ROWS_SHOWN } },
  });
}

/** Scheduled changes of a subscription, including those that were made or undone. */
export function ScheduledChanges({
  subscriptionId,
}: {
  readonly subscriptionId: string;
}): ReactNode {
  const [undoing, setUndoing] = useState<ScheduledChange | null>(null);
  const changes = useScheduledChanges(subscriptionId);
  return (
    <Card title="Scheduled changes">
      <LoadedRows query={changes}>
        {(rows) => (
          <SmallTable
            label="Scheduled changes"
            rows={rows}
            keyOf={({ id }) => id}
            empty="No scheduled changes."
            columns={[
              { title: 'At', cell: ({ effective_at }) => showInstant(effective_at) },
              { title: 'Change', cell: ({ type }) => type },
              { title: 'Status', cell: ({ status }) => <Status value={status} /> },
              {
                title: 'Plan',
                cell: ({ plan_id }) =>
                  plan_id === null ? showText(null) : <PlanLink id={plan_id} />,
              },
              { title: 'Quantity', isNumber: true, cell: ({ quantity }) => showText(quantity) },
              {
                title: 'Actions',
                isNumber: true,
                cell: (change) =>
                  change.status === 'pending' && (
                    <Button
                      kind="quiet"
                      needs="subscriptions:write"
                      aria-label={`Undo the ${nounOf(change)} of ${showInstant(change.effective_at)}`}
                      onClick={() => setUndoing(change)}
                    >
                      Undo…
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </LoadedRows>
      {undoing !== null && (
        <UndoDialog
          subscriptionId={subscriptionId}
          change={undoing}
          onClose={() => setUndoing(null)}
        />
      )}
    </Card>
  );
}
