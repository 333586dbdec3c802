import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import { showInstant } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import { Status } from '../ui/status';
import { toInstant } from './utc-input';

function NewClockDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [name, setName] = useState('');
  const [text, setText] = useState(() => new Date().toISOString().slice(0, 16));
  const now = toInstant(text);
  return (
    <ActionDialog
      title="New test clock"
      submitLabel="Create"
      request={(idempotencyKey) => {
        if (name.trim() === '' || now === null) return null;
        const body = { name: name.trim(), now } satisfies Schemas['CreateTestClockDto'];
        return { method: 'POST', path: '/v1/test-clocks', body, idempotencyKey };
      }}
      done={() =>
        'Created. Attach customers to it when you create them with the API: test_clock_id.'
      }
      onClose={onClose}
    >
      <TextInput label="Name" autoFocus isRequired value={name} onChange={setName} />
      <TextInput label="Its time (UTC)" type="datetime-local" value={text} onChange={setText} />
    </ActionDialog>
  );
}

export function TestClocksPage(): ReactNode {
  const [isCreating, setIsCreating] = useState(false);
  return (
    <Page
      title="Test clocks"
      actions={
        <Button kind="primary" needs="test-clocks:write" onClick={() => setIsCreating(true)}>
          New test clock…
        </Button>
      }
    >
      <ListView
        path="/v1/test-clocks"
        label="Test clocks"
        nouns={['test clock', 'test clocks']}
        columns={[
          {
            title: 'Name',
            full: ({ name }) => name,
            cell: ({ id, name }) => <ObjectLink id={id} label={name} />,
          },
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
          { title: 'Its time', cell: ({ now }) => showInstant(now) },
          { title: 'Advances to', cell: ({ advances_to }) => showInstant(advances_to) },
        ]}
        empty="No test clocks. Customers on one live in its time, which you advance."
      />
      {isCreating && <NewClockDialog onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
