import { type ReactNode, useMemo } from 'react';
import type { Schemas } from '../api/client';
import { showNumber } from '../format/text';
import { StackedBars } from '../ui/chart';
import { SelectInput } from '../ui/field';
import { Loaded, type Reading } from '../ui/loaded';
import { barsOf, USAGE_RANGES, type UsageWindow } from './usage-bars';

/** Select field for the range of a usage chart. */
export function UsageRange({
  value,
  onChange,
}: {
  readonly value: UsageWindow;
  readonly onChange: (window: UsageWindow) => void;
}): ReactNode {
  return (
    <SelectInput
      label="Time (UTC)"
      value={value}
      options={USAGE_RANGES.map(([window, label]) => [window, label])}
      onChange={(window) => onChange(window as UsageWindow)}
    />
  );
}

export interface UsageChartProps {
  readonly query: Reading<Schemas['MeterTotalsDto']>;
  readonly range: { readonly from: string; readonly to: string };
  readonly window: UsageWindow;
  readonly meter: Schemas['MeterDto'];
  /** Property that the usage is grouped by. */
  readonly groupBy: string | undefined;
}

/** Usage by window, as bars. */
export function UsageChart(props: UsageChartProps): ReactNode {
  const { query, range, window, meter, groupBy } = props;
  const values = query.data?.data;
  const bars = useMemo(() => barsOf(values ?? [], range, window), [values, range, window]);
  return (
    <Loaded query={query}>
      {({ total }) => (
        <StackedBars
          bars={bars}
          unit={meter.key}
          caption={`${meter.name}: ${showNumber(total)}${groupBy === undefined ? '' : `, by ${groupBy}`}`}
          format={(value) => showNumber(String(value))}
        />
      )}
    </Loaded>
  );
}
