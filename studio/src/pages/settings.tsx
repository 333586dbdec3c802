import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { $api } from '../api/client';
import { showCode, showInstant, showText } from '../format/text';
import { useAccess } from '../layout/access';
import { currentSession } from '../layout/session';
import { serviceSettings } from '../settings';
import { LoadedRows } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';
import { SecondFactor } from './second-factor';

/** Largest page of a list. These lists are short and have no page of their own in the console. */
const ALL_OF_FEW = { params: { query: { limit: 100 } } };

function OwnAccount(): ReactNode {
  const isOpen = serviceSettings().auth === 'open';
  // Read again when the page opens, because each use moves the end of the session.
  const { data: session } = useQuery({ ...currentSession, staleTime: 0, enabled: !isOpen });
  if (isOpen || session === undefined || session === null) {
    return (
      <Card title="Sign-in">
        <p className={css['empty']}>
          No sign-in is needed (AUTH=open). Everybody who reaches the service is an owner.
        </p>
      </Card>
    );
  }
  const { admin, ends_at, expires_at } = session;
  return (
    <>
      <Card title="Your session">
        <Details
          items={[
            ['Name', admin.name],
            ['Email', admin.email],
            ['Role', admin.role],
            ['Ends without use', showInstant(ends_at)],
            ['Ends at the latest', showInstant(expires_at)],
          ]}
        />
      </Card>
      <SecondFactor />
    </>
  );
}

function Admins(): ReactNode {
  const admins = $api.useQuery('get', '/v1/studio', ALL_OF_FEW);
  return (
    <Card title="Admins">
      <LoadedRows query={admins}>
        {(rows) => (
          <SmallTable
            label="Admins"
            rows={rows}
            keyOf={({ id }) => id}
            empty="No admins. Run npm run studio -- create-admin."
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'Email', cell: ({ email }) => email },
              { title: 'Role', cell: ({ role }) => role },
              {
                title: 'Status',
                cell: ({ is_active }) => <Status value={is_active ? 'active' : 'inactive'} />,
              },
            ]}
          />
        )}
      </LoadedRows>
    </Card>
  );
}

function ApiKeys(): ReactNode {
  const keys = $api.useQuery('get', '/v1/api-keys', ALL_OF_FEW);
  return (
    <Card title="API keys">
      <LoadedRows query={keys}>
        {(rows) => (
          <SmallTable
            label="API keys"
            rows={rows}
            keyOf={({ id }) => id}
            empty="No API keys. Run npm run keys."
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'Key', cell: ({ prefix, last_four }) => `${prefix}…${last_four}` },
              {
                title: 'Scopes',
                cell: ({ scopes }) => scopes.join(', '),
              },
              { title: 'Last used', cell: ({ last_used_at }) => showInstant(last_used_at) },
              { title: 'Expires', cell: ({ expires_at }) => showInstant(expires_at) },
              { title: 'Revoked', cell: ({ revoked_at }) => showInstant(revoked_at) },
            ]}
          />
        )}
      </LoadedRows>
    </Card>
  );
}

export function SettingsPage(): ReactNode {
  const mayRead = useAccess();
  const rates = $api.useQuery('get', '/v1/tax-rates', ALL_OF_FEW);
  return (
    <Page title="Settings">
      <OwnAccount />
      {mayRead('studio:read') && <Admins />}
      {mayRead('keys:read') && <ApiKeys />}
      <Card title="Tax rates">
        <LoadedRows query={rates}>
          {(rows) => (
            <SmallTable
              label="Tax rates"
              rows={rows}
              keyOf={({ id }) => id}
              empty="No tax rates."
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                { title: 'Rate', isNumber: true, cell: ({ percentage }) => `${percentage} %` },
                {
                  title: 'Prices',
                  cell: ({ inclusive }) => (inclusive ? 'Tax included' : 'Tax added'),
                },
                { title: 'Country', cell: ({ country }) => showText(country) },
                {
                  title: 'Status',
                  cell: ({ is_active }) => (
                    <Status value={showCode(is_active ? 'active' : 'inactive')} />
                  ),
                },
              ]}
            />
          )}
        </LoadedRows>
      </Card>
    </Page>
  );
}
