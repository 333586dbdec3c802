import type { ReactNode } from 'react';
import css from './ui.module.css';

/** Shows a value as indented JSON in a region that scrolls. */
export function Json({
  value,
  label,
}: {
  readonly value: unknown;
  readonly label: string;
}): ReactNode {
  return (
    <div
      className={`${css['scroll'] ?? ''} ${css['body'] ?? ''}`}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <pre className="mono">{JSON.stringify(value, null, 2)}</pre>
    </div>
  );
}
