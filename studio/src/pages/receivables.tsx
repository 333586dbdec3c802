import { Link } from '@tanstack/react-router';
import { type ReactNode, useId, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { money } from '../format/money';
import { showInstant, showNumber } from '../format/text';
import { amountColumn, CUSTOMER_NAME_COLUMN } from '../ui/columns';
import { Loaded } from '../ui/loaded';
import { Card } from '../ui/page';
import { type Column, SmallTable } from '../ui/table';
import { TypedInput } from '../ui/typed-input';
import css from '../ui/ui.module.css';

type ReceivablesRow = Schemas['ReceivablesRowDto'];

/** Maximum number of customers of a currency. */
const MAX_CUSTOMERS = 100;

const AGES = [
  ['not_due', 'Not due'],
  ['days_1_to_30', '1 to 30 days'],
  ['days_31_to_60', '31 to 60 days'],
  ['days_61_to_90', '61 to 90 days'],
  ['over_90_days', 'Over 90 days'],
] as const;

const AMOUNTS: readonly Column<ReceivablesRow>[] = [
  { title: 'Invoices', isNumber: true, cell: ({ invoices }) => showNumber(invoices) },
  ...AGES.map(([field, title]) => ({
    title,
    isNumber: true,
    cell: (row: ReceivablesRow) => (row[field] === '0' ? '–' : money(row[field], row.currency)),
  })),
  amountColumn('Total', 'total'),
];

/** Amounts that open invoices still owe, by age: of all customers, or customer by customer. */
export function Receivables({ isByCustomer }: { readonly isByCustomer: boolean }): ReactNode {
  const [day, setDay] = useState('');
  const noteId = useId();
  const today = new Date().toISOString().slice(0, 10);
  const fault = day > today ? 'A day that is not in the future.' : null;
  const query = {
    ...(isByCustomer && { group_by: 'customer' as const, limit: MAX_CUSTOMERS }),
    ...(day !== '' && { at: `${day}T00:00:00.000Z` }),
  };
  const receivables = $api.useQuery(
    'get',
    '/v1/analytics/receivables',
    { params: { query } },
    { enabled: fault === null },
  );
  const { data } = receivables;
  const title = isByCustomer ? 'Who owes' : 'Receivables by age';
  return (
    <Card
      title={title}
      aside={data !== undefined && <span className="muted">At {showInstant(data.at)}</span>}
    >
      <div className={css['body']}>
        <div className={css['filters']}>
          <label>
            At the start of (UTC)
            <TypedInput
              type="date"
              value={day}
              faultId={fault === null ? undefined : noteId}
              onChange={setDay}
            />
          </label>
          <span id={noteId} className={css[fault === null ? 'hint' : 'error']}>
            {fault ?? 'Empty: now.'}
          </span>
        </div>
      </div>
      {fault === null && (
        <Loaded query={receivables}>
          {({ data: rows }) => (
            <>
              <SmallTable
                label={title}
                rows={rows}
                keyOf={({ currency, customer_id }) => `${currency} ${customer_id ?? ''}`}
                empty="Nothing is owed."
                columns={[
                  isByCustomer
                    ? CUSTOMER_NAME_COLUMN
                    : { title: 'Currency', cell: ({ currency }) => currency },
                  ...AMOUNTS,
                ]}
              />
              {isByCustomer && <Limit rows={rows} />}
            </>
          )}
        </Loaded>
      )}
    </Card>
  );
}

/** Says for which currencies there may be more customers than are shown. */
function Limit({ rows }: { readonly rows: readonly ReceivablesRow[] }): ReactNode {
  const counts = new Map<string, number>();
  for (const { currency } of rows) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  const limited = [...counts].filter(([, count]) => count >= MAX_CUSTOMERS);
  if (limited.length === 0) return null;
  return (
    <p className={css['more']}>
      At most {MAX_CUSTOMERS} customers who owe {limited.map(([currency]) => currency).join(', ')}{' '}
      are shown, those who owe most.{' '}
      <Link to="/customers" search={{ owing: 'true' } as never}>
        All customers who owe now
      </Link>
    </p>
  );
}
