import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from './button';

export type FilterValues = Readonly<Record<string, string>>;

export type Filter = {
  readonly name: string;
  readonly label: string;
} & (
  | { readonly kind: 'text'; readonly placeholder?: string }
  | { readonly kind: 'date' }
  | { readonly kind: 'choice'; readonly options: readonly (readonly [string, string])[] }
);

/** Returns the parameters of the address that are filters, and changes one of them. */
export function useFilters(
  filters: readonly Filter[],
): readonly [FilterValues, (name: string, value: string) => void, () => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const values: Record<string, string> = {};
  for (const { name } of filters) {
    const value = search[name];
    if (typeof value === 'string' && value !== '') values[name] = value;
    if (typeof value === 'number') values[name] = String(value);
  }
  const go = (next: FilterValues): void =>
    void navigate({ to: '.', search: next as never, replace: true });
  const set = (name: string, value: string): void => {
    const { [name]: _, ...others } = values;
    go(value === '' ? others : { ...others, [name]: value });
  };
  return [values, set, () => go({})];
}

const TYPING_MS = 250;

/** A text that takes effect when its reader stops typing. */
function TypedText({
  value,
  placeholder,
  onChange,
}: {
  readonly value: string;
  readonly placeholder: string | undefined;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // The address changed otherwise: by a link, the back button or "Clear filters".
    if (input.current !== null && input.current.value.trim() !== value) input.current.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      ref={input}
      type="search"
      defaultValue={value}
      placeholder={placeholder}
      onChange={({ target }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onChange(target.value.trim()), TYPING_MS);
      }}
    />
  );
}

export interface FilterBarProps {
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
  readonly onChange: (name: string, value: string) => void;
  readonly onClear: () => void;
}

export function FilterBar({ filters, values, onChange, onClear }: FilterBarProps): ReactNode {
  return (
    <>
      {filters.map((filter) => (
        <label key={filter.name}>
          {filter.label}
          <FilterInput
            filter={filter}
            value={values[filter.name] ?? ''}
            onChange={(value) => onChange(filter.name, value)}
          />
        </label>
      ))}
      {Object.keys(values).length > 0 && (
        <Button kind="quiet" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </>
  );
}

function FilterInput({
  filter,
  value,
  onChange,
}: {
  readonly filter: Filter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  if (filter.kind === 'text')
    return <TypedText value={value} placeholder={filter.placeholder} onChange={onChange} />;
  if (filter.kind === 'date')
    return <input type="date" value={value} onChange={({ target }) => onChange(target.value)} />;
  return (
    <select value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">All</option>
      {filter.options.map(([one, label]) => (
        <option key={one} value={one}>
          {label}
        </option>
      ))}
    </select>
  );
}
