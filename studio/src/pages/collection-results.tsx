import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import { showCode, showNumber } from '../format/text';
import { amountColumn } from '../ui/columns';
import { Loaded } from '../ui/loaded';
import { Card } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import { yearAgo } from './year-ago';

/** Results of the automatic charges of a year, by attempt. */
export function CollectionResults(): ReactNode {
  const [from] = useState(yearAgo);
  const results = $api.useQuery('get', '/v1/analytics/collection', {
    params: { query: { from } },
  });
  return (
    <Card title="Automatic charges of 12 months">
      <Loaded query={results}>
        {({ data }) => (
          <SmallTable
            label="Automatic charges"
            rows={data}
            keyOf={({ currency, attempt, status, failure_code }) =>
              [currency, attempt, status, failure_code].join(' ')
            }
            empty="No automatic charges. Customers on test clocks do not count."
            columns={[
              { title: 'Attempt', isNumber: true, cell: ({ attempt }) => attempt },
              { title: 'Result', cell: ({ status }) => <Status value={status} /> },
              { title: 'Failure', cell: ({ failure_code }) => showCode(failure_code) },
              { title: 'Payments', isNumber: true, cell: ({ payments }) => showNumber(payments) },
              amountColumn('Amount', 'amount'),
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
