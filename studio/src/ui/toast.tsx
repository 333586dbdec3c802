import { type ReactNode, useSyncExternalStore } from 'react';
import css from './ui.module.css';

const SHOWN_MS = 5_000;

let text = '';
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function set(message: string): void {
  text = message;
  for (const listener of listeners) listener();
}

/** Shows a message for five seconds, and announces it. */
export function toast(message: string): void {
  clearTimeout(timer);
  set(message);
  timer = setTimeout(() => set(''), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toast(): ReactNode {
  const message = useSyncExternalStore(subscribe, () => text);
  return (
    <div className={css['toast']} role="status">
      {message}
    </div>
  );
}
