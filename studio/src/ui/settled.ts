import { useEffect, useState } from 'react';

/** Time without a change after which typing has ended. */
export const TYPING_MS = 250;

/** Returns the value as it was when it last stayed the same for a quarter of a second. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
