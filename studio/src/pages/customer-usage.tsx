import { type ReactNode, useMemo, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { useOfferedMeters } from '../api/offered';
import { SelectInput } from '../ui/field';
import { Failure } from '../ui/loaded';
import { Card } from '../ui/page';
import css from '../ui/ui.module.css';
import { rangeUntil, stackableBy, type UsageWindow } from './usage-bars';
import { UsageChart, UsageRange } from './usage-chart';

export interface CustomerUsageProps {
  readonly customerId: string;
  /** Instant of the test clock of the customer; null without one. */
  readonly now: string | null;
}

/** Usage of a customer until now, by meter. */
export function CustomerUsage({ customerId, now }: CustomerUsageProps): ReactNode {
  const meters = useOfferedMeters();
  const [openedAt] = useState(() => new Date().toISOString());
  const all = meters.data?.rows ?? [];
  const [meterId, setMeterId] = useState('');
  const [window, setWindow] = useState<UsageWindow>('day');
  const meter = all.find(({ id }) => id === meterId) ?? all[0];
  if (meter === undefined)
    return meters.isError ? (
      <Card title="Usage">
        <Failure query={meters} />
      </Card>
    ) : null;
  return (
    <Card title="Usage">
      <div className={css['body']}>
        <div className={css['filters']}>
          <SelectInput
            label="Meter"
            hint={meters.data?.limit ?? ''}
            value={meter.id}
            options={all.map(({ id, name }) => [id, name])}
            onChange={setMeterId}
          />
          <UsageRange value={window} onChange={setWindow} />
        </div>
      </div>
      <Bars customerId={customerId} meter={meter} window={window} until={now ?? openedAt} />
    </Card>
  );
}

interface BarsProps {
  readonly customerId: string;
  readonly meter: Schemas['MeterDto'];
  readonly window: UsageWindow;
  readonly until: string;
}

function Bars({ customerId, meter, window, until }: BarsProps): ReactNode {
  const range = useMemo(() => rangeUntil(until, window), [until, window]);
  const [group] = stackableBy(meter);
  const usage = $api.useQuery('get', '/v1/meters/{id}/usage', {
    params: {
      path: { id: meter.id },
      query: {
        customer_id: customerId,
        ...range,
        window,
        // As all instants of the page. The default is the time zone of the customer.
        time_zone: 'UTC',
        ...(group !== undefined && { group_by: group }),
      },
    },
  });
  return <UsageChart query={usage} range={range} window={window} meter={meter} groupBy={group} />;
}
