import { type ReactNode, useEffect, useRef } from 'react';
import { TYPING_MS } from './settled';

/** A year that is being typed has fewer digits first: 2026 begins as year 2. */
const FIRST_DATE = '1000-01-01';
/** Keeps browsers from reading a fifth digit into the year. */
const LAST_DATE = '9999-12-31';

export interface TypedInputProps {
  readonly type: 'search' | 'date';
  readonly value: string;
  readonly placeholder?: string | undefined;
  /** Id of the text that says why the value cannot be used. */
  readonly faultId?: string | undefined;
  readonly onChange: (value: string) => void;
}

/** Returns true for a date that is typed in part. */
const isPartial = ({ type, value, validity }: HTMLInputElement): boolean =>
  type === 'date' && (validity.badInput || (value !== '' && value < FIRST_DATE));

/**
 * An input whose text takes effect when its reader stops typing or leaves it. The browser keeps the text: the address, where
 * the value comes from, changes later, and would take back what was typed meanwhile.
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
    // The address changed otherwise: by a link, the back button or "Clear filters".
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
        // Shows the date that the list is filtered by.
        else if (isPartial(target)) target.value = value;
      }}
    />
  );
}
