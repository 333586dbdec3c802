import { type ReactNode, useEffect, useRef } from 'react';
import { TYPING_MS } from './settled';

/**
 * First date that counts as complete. While the user types the year 2026, browsers first report the years 0002, 0020
 * and 0202.
 */
const FIRST_DATE = '1000-01-01';
/** Maximum date, so that browsers accept only four digits of the year. */
const LAST_DATE = '9999-12-31';

export interface TypedInputProps {
  readonly type: 'search' | 'date';
  readonly value: string;
  readonly placeholder?: string | undefined;
  /** Id of the text that says why the value cannot be used. */
  readonly faultId?: string | undefined;
  readonly onChange: (value: string) => void;
}

/** Returns true if a date is typed only in part. */
const isPartial = ({ type, value, validity }: HTMLInputElement): boolean =>
  type === 'date' && (validity.badInput || (value !== '' && value < FIRST_DATE));

/**
 * An input whose text takes effect when the user stops typing or leaves the input. The browser keeps the text: `value`
 * comes from the address, which changes later, and would overwrite text that was typed meanwhile.
 */
export function TypedInput(props: TypedInputProps): ReactNode {
  const { type, value, placeholder, faultId, onChange } = props;
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isTyping = (): boolean => timer.current !== undefined;
  const stopTimer = (): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
  };
  useEffect(() => {
    // A link, the back button or "Clear filters" has changed the address.
    if (
      input.current !== null &&
      timer.current === undefined &&
      input.current.value.trim() !== value
    )
      input.current.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (text: string): void => {
    stopTimer();
    onChange(text.trim());
  };
  return (
    <input
      ref={input}
      type={type}
      defaultValue={value}
      placeholder={placeholder}
      max={type === 'date' ? LAST_DATE : undefined}
      aria-invalid={faultId !== undefined}
      aria-describedby={faultId}
      onChange={({ target }) => {
        stopTimer();
        if (!isPartial(target)) timer.current = setTimeout(() => send(target.value), TYPING_MS);
      }}
      onBlur={({ target }) => {
        if (isTyping()) send(target.value);
        // Shows the date of the current filter again.
        else if (isPartial(target)) target.value = value;
      }}
    />
  );
}
