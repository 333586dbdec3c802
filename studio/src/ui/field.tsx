import { createContext, type ReactNode, useContext, useId } from 'react';
import { shorten } from '../format/text';
import css from './ui.module.css';

/**
 * True while the form would repeat a request that got no clear answer. The fields then show no faults: the first
 * attempt may have succeeded and used up the amount that they are checked against, and the faults would hinder the
 * repetition.
 */
export const IsRepeated = createContext(false);

const hasFault = (fault: string | null | undefined): boolean => typeof fault === 'string';

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: string | undefined;
  /** Reason why the value cannot be sent. */
  readonly fault?: string | null | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export interface TextInputProps extends FieldProps {
  readonly type?: 'text' | 'password' | 'url' | 'datetime-local' | 'date';
  /** `email` is no `type`: browsers refuse letters that the API accepts, and rewrite domains. */
  readonly inputMode?: 'decimal' | 'numeric' | 'text' | 'email';
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
  readonly maxLength?: number;
  /** First and last day that the field accepts. */
  readonly min?: string;
  readonly max?: string;
  readonly isRequired?: boolean;
}

export function TextInput(props: TextInputProps): ReactNode {
  const { label, hint, value, onChange, isRequired, autoComplete = 'off', ...checked } = props;
  const { fault: found, ...rest } = checked;
  const fault = useContext(IsRepeated) ? null : found;
  const id = useId();
  return (
    <div className={css['field']}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        value={value}
        required={isRequired}
        autoComplete={autoComplete}
        autoCapitalize={rest.inputMode === 'email' ? 'none' : undefined}
        aria-invalid={hasFault(fault)}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange(event.target.value)}
        {...rest}
      />
      <Note id={`${id}-note`} hint={hint} fault={fault} />
    </div>
  );
}

export interface SelectInputProps extends FieldProps {
  readonly options: readonly (readonly [value: string, label: string])[];
  /** True: hides the label visually, because the context shows the meaning of the field. */
  readonly isInline?: boolean;
}

export function SelectInput(props: SelectInputProps): ReactNode {
  const { label, hint, fault, value, onChange, options, isInline = false } = props;
  const id = useId();
  return (
    <div className={isInline ? undefined : css['field']}>
      <label htmlFor={id} className={isInline ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {shorten(text, 120)}
          </option>
        ))}
      </select>
      <Note id={`${id}-note`} hint={hint} fault={fault} />
    </div>
  );
}

export interface CheckInputProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function CheckInput({ label, isChecked, onChange }: CheckInputProps): ReactNode {
  return (
    <p>
      <label>
        <input
          type="checkbox"
          checked={isChecked}
          onChange={(event) => onChange(event.target.checked)}
        />{' '}
        {label}
      </label>
    </p>
  );
}

function Note({ id, hint, fault }: Pick<FieldProps, 'hint' | 'fault'> & { id: string }): ReactNode {
  return (
    <span id={id} className={hasFault(fault) ? css['error'] : css['hint']}>
      {fault ?? hint}
    </span>
  );
}
