import { type ReactNode, useMemo, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { SelectInput } from '../ui/field';
import { Card } from '../ui/page';
import css from '../ui/ui.module.css';
import { rangeUntil, stackableBy, type UsageWindow } from './usage-bars';
import { UsageChart, UsageRange } from './usage-chart';

/** Aggregations for which the API states the usage of all customers together. */
const TOTALLED: readonly string[] = ['count', 'sum', 'max'];

/** Usage of all customers until now. */
export function MeterTotals({ meter }: { readonly meter: Schemas['MeterDto'] }): ReactNode {
  const [openedAt] = useState(() => new Date().toISOString());
  const [window, setWindow] = useState<UsageWindow>('hour');
  const [group, setGroup] = useState('');
  const range = useMemo(() => rangeUntil(openedAt, window), [openedAt, window]);
  const isTotalled = TOTALLED.includes(meter.aggregation);
  const totals = $api.useQuery(
    'get',
    '/v1/meters/{id}/totals',
    {
      params: {
        path: { id: meter.id },
        query: { ...range, window, ...(group !== '' && { group_by: group }) },
      },
    },
    { enabled: isTotalled },
  );
  if (!isTotalled) return null;
  const groups = stackableBy(meter);
  return (
    <Card title="Usage of all customers">
      <div className={css['body']}>
        <div className={css['filters']}>
          <UsageRange value={window} onChange={setWindow} />
          {groups.length > 0 && (
            <SelectInput
              label="Group by"
              value={group}
              options={[['', 'Nothing'], ...groups.map((name) => [name, name] as const)]}
              onChange={setGroup}
            />
          )}
        </div>
      </div>
      <UsageChart
        query={totals}
        range={range}
        window={window}
        meter={meter}
        groupBy={group === '' ? undefined : group}
      />
    </Card>
  );
}
