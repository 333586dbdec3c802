import { type ReactNode, useMemo, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { showNumber } from '../format/text';
import { StackedBars } from '../ui/chart';
import { SelectInput } from '../ui/field';
import { Card, Problem } from '../ui/page';
import css from '../ui/ui.module.css';
import { barsOf, type UsageWindow, windowsUntil } from './usage-bars';

const METERS_SHOWN = 100;
const WINDOWS: readonly (readonly [UsageWindow, string, number])[] = [
  ['day', '31 days, by day', 31],
  ['hour', '24 hours, by hour', 24],
];

export interface CustomerUsageProps {
  readonly customerId: string;
  /** Instant of the test clock of the customer; null without one. */
  readonly now: string | null;
}

/** Usage of a customer until now, by meter. */
export function CustomerUsage({ customerId, now }: CustomerUsageProps): ReactNode {
  const meters = $api.useQuery('get', '/v1/meters', { params: { query: { limit: METERS_SHOWN } } });
  const [openedAt] = useState(() => new Date().toISOString());
  const all = meters.data?.data ?? [];
  const [meterId, setMeterId] = useState('');
  const [window, setWindow] = useState<UsageWindow>('day');
  const meter = all.find(({ id }) => id === meterId) ?? all[0];
  if (meter === undefined) return null;
  return (
    <Card title="Usage">
      <div className={css['body']}>
        <div className={css['filters']}>
          <SelectInput
            label="Meter"
            value={meter.id}
            options={all.map(({ id, name }) => [id, name])}
            onChange={setMeterId}
          />
          <SelectInput
            label="Time (UTC)"
            value={window}
            options={WINDOWS.map(([value, label]) => [value, label])}
            onChange={(value) => setWindow(value as UsageWindow)}
          />
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
  const count = WINDOWS.find(([value]) => value === window)?.[2] ?? 1;
  const range = useMemo(() => windowsUntil(until, window, count), [until, window, count]);
  const group = meter.group_by[0];
  const usage = $api.useQuery('get', '/v1/meters/{id}/usage', {
    params: {
      path: { id: meter.id },
      query: {
        customer_id: customerId,
        ...range,
        window,
        ...(group !== undefined && { group_by: group }),
      },
    },
  });
  const bars = useMemo(
    () => barsOf(usage.data?.data ?? [], range, window),
    [usage.data, range, window],
  );
  if (usage.data === undefined)
    return (
      <div className={css['body']}>
        {usage.isLoading ? 'Loading…' : <Problem error={usage.error} />}
      </div>
    );
  return (
    <StackedBars
      bars={bars}
      unit={meter.key}
      caption={`${meter.name}: ${showNumber(usage.data.total)}${group === undefined ? '' : `, by ${group}`}`}
    />
  );
}
