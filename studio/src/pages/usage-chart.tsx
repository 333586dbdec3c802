import { type ReactNode, useMemo } from 'react';
import type { Schemas } from '../api/client';
import { showNumber } from '../format/text';
import { StackedBars } from '../ui/chart';
import { SelectInput } from '../ui/field';
import { Problem } from '../ui/page';
import css from '../ui/ui.module.css';
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
  /** Undefined while the usage is loading. */
  readonly usage: Schemas['MeterTotalsDto'] | undefined;
  readonly error: unknown;
  readonly range: { readonly from: string; readonly to: string };
  readonly window: UsageWindow;
  readonly meter: Schemas['MeterDto'];
  /** Property that the usage is grouped by. */
  readonly groupBy: string | undefined;
}

/** Usage by window, as bars. */
export function UsageChart(props: UsageChartProps): ReactNode {
  const { usage, error, range, window, meter, groupBy } = props;
  const bars = useMemo(() => barsOf(usage?.data ?? [], range, window), [usage, range, window]);
  if (usage === undefined)
    return (
      <div className={css['body']}>{error === null ? 'Loading…' : <Problem error={error} />}</div>
    );
  return (
    <StackedBars
      bars={bars}
      unit={meter.key}
      caption={`${meter.name}: ${showNumber(usage.total)}${groupBy === undefined ? '' : `, by ${groupBy}`}`}
    />
  );
}
