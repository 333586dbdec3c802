import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { parseSignedMoney, toDecimal } from '../format/money';
import { showCode } from '../format/text';
import { Button } from './button';
import { TypedInput } from './typed-input';
import css from './ui.module.css';

export type FilterValues = Readonly<Record<string, string>>;

export type Filter = {
  readonly name: string;
  readonly label: string;
} & (
  | { readonly kind: 'text'; readonly placeholder?: string; readonly isUpperCase?: boolean }
  /** A day. The address contains the date, and the request contains midnight UTC. */
  | { readonly kind: 'date' }
  /**
   * An amount in the currency of the currency filter; it may be negative. The address contains a decimal number, and
   * the request contains minor units.
   */
  | { readonly kind: 'amount' }
  | { readonly kind: 'choice'; readonly options: Options }
  /** Any number of values, separated by commas. */
  | { readonly kind: 'choices'; readonly options: Options }
);

type Options = readonly (readonly [value: string, label: string])[];

/** Returns codes with their names as options. */
export const optionsOf = (codes: readonly string[]): Options =>
  codes.map((code) => [code, showCode(code)]);

/** Filter that leaves out objects of customers on test clocks. */
export const REAL_TIME: Filter = {
  name: 'test_clock_id',
  label: 'Test clocks',
  kind: 'choice',
  options: [['none', 'Left out']],
};

/** Returns two filters that limit an instant to a range of days, such as `created_from` and `created_to`. */
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
  isUpperCase: true,
};

/** Returns the currency filter and two filters that limit an amount, such as `total_min` and `total_max`. */
export const amountsOf = (name: string, label: string): readonly Filter[] => [
  CURRENCY,
  { name: `${name}_min`, label: `${label} from (with a currency)`, kind: 'amount' },
  { name: `${name}_max`, label: `${label} to (with a currency)`, kind: 'amount' },
];

/** Example of an amount, in minor units, for the text about an invalid amount. */
const EXAMPLE_MINOR = 2_950;

const CURRENCY_CODE = /^[A-Z]{3}$/;

/** Returns the faults of the values, by filter name. The list is read only if there are none. */
export function faultsOf(filters: readonly Filter[], values: FilterValues): FilterValues {
  const currency = values['currency'] ?? '';
  const example = toDecimal(EXAMPLE_MINOR, currency);
  const faults: Record<string, string> = {};
  const isUnknown = currency !== '' && !CURRENCY_CODE.test(currency);
  if (isUnknown && filters.includes(CURRENCY))
    faults['currency'] = 'Enter a currency code of three letters, such as USD.';
  for (const { name, kind } of filters) {
    const value = values[name];
    if (kind !== 'amount' || value === undefined) continue;
    if (currency === '') faults[name] = 'Enter the currency of the amount too.';
    else if (!isUnknown && parseSignedMoney(value, currency) === null)
      faults[name] =
        `Enter an amount such as ${example}: no currency sign, no commas for thousands.`;
  }
  return faults;
}

/** Returns the values as parameters of a request. Call it only if {@link faultsOf} returns no fault. */
export function parametersOf(filters: readonly Filter[], values: FilterValues): FilterValues {
  const kinds = new Map(filters.map(({ name, kind }) => [name, kind]));
  const currency = values['currency'] ?? '';
  const sent = (name: string, value: string): string => {
    if (kinds.get(name) === 'date') return `${value}T00:00:00Z`;
    if (kinds.get(name) !== 'amount') return value;
    return String(parseSignedMoney(value, currency) ?? value);
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, sent(name, value)]),
  );
}

/** Query parameter of the address that names the order of a list. */
const SORT = 'sort';

type Search = Readonly<Record<string, unknown>>;

function valuesOf(names: readonly string[], search: Search): FilterValues {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = search[name];
    if (typeof value === 'string' && value !== '') values[name] = value;
    if (typeof value === 'number') values[name] = String(value);
  }
  return values;
}

export interface ListAddress {
  /** Values of the filters that are set. */
  readonly values: FilterValues;
  readonly sort: string | undefined;
  /** Sets a filter or the order; empty: removes it. */
  readonly set: (name: string, value: string) => void;
  /** Removes the filters, and keeps the order. */
  readonly clear: () => void;
}

/** Reads the filters and the order of a list from the address. Also returns functions that change them. */
export function useListAddress(filters: readonly Filter[]): ListAddress {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const names = [...filters.map(({ name }) => name), SORT];
  // Changes the current address, because two filters can change before the page is rendered again.
  const change = (next: (now: FilterValues) => FilterValues): void =>
    void navigate({
      to: '.',
      search: ((now: Search) => next(valuesOf(names, now))) as never,
      replace: true,
      resetScroll: false,
    });
  const { [SORT]: sort, ...values } = valuesOf(names, search);
  return {
    values,
    sort,
    set: (name, value) =>
      change(({ [name]: _, ...others }) => (value === '' ? others : { ...others, [name]: value })),
    clear: () => change((now) => valuesOf([SORT], now)),
  };
}

export interface FilterBarProps {
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
  /** Faults of the values, by filter name. */
  readonly faults: FilterValues;
  readonly onChange: (name: string, value: string) => void;
  readonly onClear: () => void;
}

const SHOWN_AT_ONCE = 4;

/** Inputs for the filters. Filters beyond the first few are behind "More filters", which is open if one of them is set. */
export function FilterBar(props: FilterBarProps): ReactNode {
  const { filters, values, faults, onChange, onClear } = props;
  const isSplit = filters.length > SHOWN_AT_ONCE + 1;
  const first = isSplit ? filters.slice(0, SHOWN_AT_ONCE) : filters;
  const further = isSplit ? filters.slice(SHOWN_AT_ONCE) : [];
  const inputs = (some: readonly Filter[]): ReactNode =>
    some.map((filter) => (
      <FilterInput
        key={filter.name}
        filter={filter}
        value={values[filter.name] ?? ''}
        fault={faults[filter.name]}
        onChange={(value) => {
          const isUpperCase = filter.kind === 'text' && filter.isUpperCase === true;
          onChange(filter.name, isUpperCase ? value.toUpperCase() : value);
        }}
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
  readonly fault: string | undefined;
  readonly onChange: (value: string) => void;
}

function FilterInput({ filter, value, fault, onChange }: FilterInputProps): ReactNode {
  const faultId = useId();
  if (filter.kind === 'choices')
    return (
      <Choices label={filter.label} options={filter.options} value={value} onChange={onChange} />
    );
  return (
    <div>
      <label>
        {filter.label}
        {(filter.kind === 'text' || filter.kind === 'amount') && (
          <TypedInput
            type="search"
            value={value}
            placeholder={filter.kind === 'text' ? filter.placeholder : '29.00'}
            faultId={fault === undefined ? undefined : faultId}
            onChange={onChange}
          />
        )}
        {filter.kind === 'date' && <TypedInput type="date" value={value} onChange={onChange} />}
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
      {fault !== undefined && (
        <p id={faultId} role="alert" className={css['fault']}>
          {fault}
        </p>
      )}
    </div>
  );
}

/** Checkboxes in a native disclosure element, whose summary names the selected options. */
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
