import { useEffect, useState } from 'react';

/** Time without input after which typing counts as finished. */
export const TYPING_MS = 250;

/** Returns the last value that stayed the same for {@link TYPING_MS}. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
