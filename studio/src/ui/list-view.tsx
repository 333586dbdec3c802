import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import {
  downloadCsv,
  type ListPath,
  type Parameters,
  readPage,
  readSummary,
  type RowOf,
  type Summary,
} from '../api/lists';
import { money } from '../format/money';
import { showNumber } from '../format/text';
import { Button } from './button';
import {
  faultsOf,
  type Filter,
  FilterBar,
  type FilterValues,
  parametersOf,
  useListAddress,
} from './filters';
import { useSingleMutation } from './single-mutation';
import { type Column, List } from './table';
import { toast } from './toast';
import css from './ui.module.css';

const NO_FILTERS: readonly Filter[] = [];
const NOTHING: Parameters = {};

export interface ListViewProps<Path extends ListPath> {
  readonly path: Path;
  /** Values of the path parameters, such as `{id}`. */
  readonly inPath?: Parameters;
  readonly label: string;
  readonly nouns: readonly [one: string, several: string];
  readonly columns: readonly Column<RowOf<Path>>[];
  readonly filters?: readonly Filter[];
  /** Fields of the list's summary to show, with their names. Absent if the API has no summary of the list. */
  readonly sums?: readonly (readonly [field: string, name: string])[];
  readonly keyOf?: (row: RowOf<Path>) => string;
  readonly empty: ReactNode;
  /** Value of the query parameter `expand`: referenced objects that each row contains. */
  readonly expand?: 'customer' | 'customer,plan';
  /** Actions on the rows that match the filters. `isRead` is false while the rows are unknown. */
  readonly actions?: (values: FilterValues, isRead: boolean) => ReactNode;
}

/** A list of the API with its filters and its order in the address, the sums of all its rows, and a download as CSV. */
export function ListView<Path extends ListPath>(props: ListViewProps<Path>): ReactNode {
  const {
    path,
    inPath = NOTHING,
    expand,
    label,
    nouns,
    columns,
    filters = NO_FILTERS,
    sums,
  } = props;
  const { values, sort, set, clear } = useListAddress(filters);
  const faults = faultsOf(filters, values);
  const isReadable = Object.keys(faults).length === 0;
  const parameters = parametersOf(filters, values);
  const ordered = { ...parameters, ...(sort !== undefined && { sort }) };
  const summary = useQuery({
    queryKey: ['summary', path, parameters],
    enabled: sums !== undefined && isReadable,
    queryFn: () => readSummary(path, parameters),
  });
  const totals =
    summary.data === undefined || summary.isError
      ? null
      : totalsOf(summary.data, nouns, sums ?? []);
  const keyOf = props.keyOf ?? ((row: RowOf<Path>): string => (row as { id: string }).id);
  return (
    <List<RowOf<Path>>
      label={label}
      nouns={nouns}
      columns={columns}
      keyOf={keyOf}
      queryKey={[path, inPath, ordered]}
      isReadable={isReadable}
      load={(query, signal) => {
        const expanded = expand !== undefined && { expand };
        return readPage(path, { ...query, ...ordered, ...expanded }, inPath, signal);
      }}
      sorting={{ value: sort, onChange: (value) => set('sort', value) }}
      empty={emptyText(values, isReadable) ?? props.empty}
      header={(count, isRead) => (
        <div className={css['filters']} role="search" aria-label={label}>
          <FilterBar
            filters={filters}
            values={values}
            faults={faults}
            onChange={set}
            onClear={clear}
          />
          <div className={css['count']}>
            <span role="status">{totals ?? count}</span>
            {props.actions?.(parameters, isRead)}
            <CsvButton
              path={filled(path, inPath)}
              parameters={ordered}
              name={label}
              isReadable={isReadable}
            />
          </div>
        </div>
      )}
    />
  );
}

/** Returns the text of an empty list with filters, or null without filters. */
function emptyText(values: FilterValues, isReadable: boolean): string | null {
  if (!isReadable) return 'Correct the filters to see the list.';
  return Object.keys(values).length > 0 ? 'Nothing matches the filters.' : null;
}

function filled(path: string, inPath: Parameters): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(inPath[name] ?? '')),
  );
}

/** Returns the count and the sums, currency by currency: `3 invoices: total $29.00, remaining $0.00`. */
function totalsOf(
  { count, currencies }: Summary,
  nouns: readonly [string, string],
  sums: readonly (readonly [string, string])[],
): string {
  const counted = `${showNumber(count)} ${nouns[count === 1 ? 0 : 1]}`;
  const texts = currencies.flatMap((one) => {
    const { currency } = one;
    if (typeof currency !== 'string' || sums.length === 0) return [];
    const amounts = sums.map(([field, name]) => `${name} ${money(one[field] ?? 0, currency)}`);
    return [amounts.join(', ')];
  });
  return texts.length === 0 ? counted : `${counted}: ${texts.join('; ')}`;
}

function CsvButton({
  path,
  parameters,
  name,
  isReadable,
}: {
  readonly path: string;
  readonly parameters: Parameters;
  readonly name: string;
  readonly isReadable: boolean;
}): ReactNode {
  const download = useSingleMutation({
    mutationFn: () => downloadCsv(path, parameters, name.toLowerCase().replaceAll(' ', '-')),
    onError: ({ message }) => toast(message),
  });
  return (
    <Button disabled={download.isPending || !isReadable} onClick={() => download.mutate()}>
      {download.isPending ? 'Downloading…' : 'Download CSV'}
    </Button>
  );
}
