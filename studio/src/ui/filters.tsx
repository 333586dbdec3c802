import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { parseSignedMoney } from '../format/money';
import { showCode } from '../format/text';
import { Button } from './button';
import { TYPING_MS } from './settled';
import css from './ui.module.css';

export type FilterValues = Readonly<Record<string, string>>;

export type Filter = {
  readonly name: string;
  readonly label: string;
} & (
  | { readonly kind: 'text'; readonly placeholder?: string }
  /** A day in the address, midnight UTC in the request. */
  | { readonly kind: 'date' }
  /** A decimal amount of the currency that is filtered by, also a negative one; minor units in the request. */
  | { readonly kind: 'amount' }
  | { readonly kind: 'choice'; readonly options: Options }
  /** Any number of values, separated by commas. */
  | { readonly kind: 'choices'; readonly options: Options }
);

type Options = readonly (readonly [value: string, label: string])[];

/** Returns codes with their names as options. */
export const optionsOf = (codes: readonly string[]): Options =>
  codes.map((code) => [code, showCode(code)]);

/** Leaves out the objects of customers on test clocks. */
export const REAL_TIME: Filter = {
  name: 'test_clock_id',
  label: 'Test clocks',
  kind: 'choice',
  options: [['none', 'Left out']],
};

/** Returns filters for the days between which an instant lies, such as `created_from` and `created_to`. */
export const daysOf = (name: string, label: string): readonly Filter[] => [
  { name: `${name}_from`, label: `${label} from (UTC)`, kind: 'date' },
  { name: `${name}_to`, label: `${label} before (UTC)`, kind: 'date' },
];

/** Filter by an ISO 4217 code. */
export const CURRENCY: Filter = {
  name: 'currency',
  label: 'Currency',
  kind: 'text',
  placeholder: 'USD',
};

/** Returns the currency and the amounts between which an amount lies, such as `total_min` and `total_max`. */
export const amountsOf = (name: string, label: string): readonly Filter[] => [
  CURRENCY,
  { name: `${name}_min`, label: `${label} from (with a currency)`, kind: 'amount' },
  { name: `${name}_max`, label: `${label} to (with a currency)`, kind: 'amount' },
];

/** Returns the values as parameters of a request. An amount that cannot be read is quoted: the service refuses it. */
export function parametersOf(filters: readonly Filter[], values: FilterValues): FilterValues {
  const kinds = new Map(filters.map(({ name, kind }) => [name, kind]));
  const currency = values['currency'] ?? '';
  const sent = (name: string, value: string): string => {
    if (kinds.get(name) === 'date') return `${value}T00:00:00Z`;
    if (kinds.get(name) !== 'amount') return value;
    return String(parseSignedMoney(value, currency) ?? `"${value}"`);
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, sent(name, value)]),
  );
}

/** Returns the parameters of the address that are filters and changes one of them. */
export function useFilters(
  filters: readonly Pick<Filter, 'name'>[],
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

const SHOWN_AT_ONCE = 4;

/** Inputs for the filters. Further ones are behind "More filters", which is open when one of them is set. */
export function FilterBar({ filters, values, onChange, onClear }: FilterBarProps): ReactNode {
  const isSplit = filters.length > SHOWN_AT_ONCE + 1;
  const first = isSplit ? filters.slice(0, SHOWN_AT_ONCE) : filters;
  const further = isSplit ? filters.slice(SHOWN_AT_ONCE) : [];
  const inputs = (some: readonly Filter[]): ReactNode =>
    some.map((filter) => (
      <FilterInput
        key={filter.name}
        filter={filter}
        value={values[filter.name] ?? ''}
        onChange={(value) => onChange(filter.name, value)}
      />
    ));
  return (
    <>
      {inputs(first)}
      {further.length > 0 && (
        <details className={css['further']} open={further.some(({ name }) => name in values)}>
          <summary>More filters</summary>
          <div>{inputs(further)}</div>
        </details>
      )}
      {Object.keys(values).length > 0 && (
        <Button kind="quiet" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </>
  );
}

interface FilterInputProps {
  readonly filter: Filter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function FilterInput({ filter, value, onChange }: FilterInputProps): ReactNode {
  if (filter.kind === 'choices')
    return (
      <Choices label={filter.label} options={filter.options} value={value} onChange={onChange} />
    );
  return (
    <label>
      {filter.label}
      {(filter.kind === 'text' || filter.kind === 'amount') && (
        <TypedText
          value={value}
          placeholder={filter.kind === 'text' ? filter.placeholder : '29.00'}
          onChange={onChange}
        />
      )}
      {filter.kind === 'date' && (
        <input type="date" value={value} onChange={({ target }) => onChange(target.value)} />
      )}
      {filter.kind === 'choice' && (
        <select value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">All</option>
          {filter.options.map(([one, label]) => (
            <option key={one} value={one}>
              {label}
            </option>
          ))}
        </select>
      )}
    </label>
  );
}

/** Checkboxes in a native disclosure, whose summary names what is chosen. */
function Choices({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly options: Options;
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const box = useRef<HTMLDetailsElement>(null);
  const chosen = value === '' ? [] : value.split(',');
  useEffect(() => {
    const close = ({ target }: Event): void => {
      if (target instanceof Node && !box.current?.contains(target))
        box.current?.removeAttribute('open');
    };
    document.addEventListener('pointerdown', close);
    return () => document.removeEventListener('pointerdown', close);
  }, []);
  const names = options.filter(([one]) => chosen.includes(one)).map(([, name]) => name);
  return (
    <details
      ref={box}
      className={css['choices']}
      onKeyDown={({ key, currentTarget }) => {
        if (key !== 'Escape') return;
        currentTarget.removeAttribute('open');
        currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary>
        <span>{label}</span>
        <span>{names.join(', ') || 'All'}</span>
      </summary>
      <fieldset>
        <legend className="visually-hidden">{label}</legend>
        {options.map(([one, name]) => (
          <label key={one}>
            <input
              type="checkbox"
              checked={chosen.includes(one)}
              onChange={({ target }) =>
                onChange(
                  options
                    .map(([code]) => code)
                    .filter((code) => (code === one ? target.checked : chosen.includes(code)))
                    .join(','),
                )
              }
            />
            {name}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
