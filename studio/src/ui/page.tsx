import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { RequestFailed } from '../api/client';
import { showText } from '../format/text';
import { Button } from './button';
import css from './ui.module.css';

export interface PageProps {
  readonly title: string;
  /** Shown beside the title, for example a status. */
  readonly mark?: ReactNode;
  readonly crumb?: { readonly to: string; readonly label: string };
  readonly actions?: ReactNode;
  /** Query for the object of the page. Its error is shown above data that was read before. */
  readonly query?: { readonly error: unknown; readonly refetch: () => unknown };
  readonly children: ReactNode;
}

/** Title of the tab while no page is shown, as before a sign-in. */
const CONSOLE = 'Billing console';

/**
 * True while one page replaces another whose heading had the focus, such as the page that is shown while loading. The
 * heading of the new page then gets the focus.
 */
let isFocusMoving = false;

export function Page({ title, mark, crumb, actions, query, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title.slice(0, 80)} · ${CONSOLE}`;
    return () => {
      document.title = CONSOLE;
    };
  }, [title]);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const { current } = heading;
    if (isFocusMoving) current?.focus({ preventScroll: true });
    isFocusMoving = false;
    return () => {
      isFocusMoving = current !== null && document.activeElement === current;
    };
  }, []);
  return (
    <main id="main" className={css['page']} tabIndex={-1}>
      {crumb && (
        <nav aria-label="Breadcrumb" className={css['crumb']}>
          <Link to={crumb.to}>{crumb.label}</Link>
        </nav>
      )}
      <header className={css['head']}>
        <h1 ref={heading} tabIndex={-1}>
          {title} {mark}
        </h1>
        <div className={css['actions']}>{actions}</div>
      </header>
      <Problem error={query?.error} onRetry={() => void query?.refetch()} />
      {children}
    </main>
  );
}

export interface CardProps {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

export function Card({ title, aside, children }: CardProps): ReactNode {
  const id = useId();
  return (
    <section className={css['card']} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div className={css['aside']}>{aside}</div>}
      </header>
      {children}
    </section>
  );
}

/** A description list. */
export function Details({
  items,
}: {
  readonly items: readonly (readonly [term: string, value: ReactNode])[];
}): ReactNode {
  return (
    <dl className={css['details']}>
      {items.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{typeof value === 'string' ? showText(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface ProblemProps {
  readonly error: unknown;
  /** Text for people, in place of the detail and the faults that the service states for programs. */
  readonly text?: string | null;
  /** Sends the request again. */
  readonly onRetry?: () => void;
}

/** Shows why a request failed: the detail, the code, each fault of the input, and the id for the log. */
export function Problem({ error, text = null, onRetry }: ProblemProps): ReactNode {
  if (error === null || error === undefined) return null;
  const problem = error instanceof RequestFailed ? error.problem : null;
  const detail = error instanceof Error ? error.message : 'Something failed.';
  // The detail of a single fault contains its message.
  const faults = (problem?.errors ?? []).filter(({ message }) => !detail.includes(message));
  return (
    <div role="alert" className={css['problem']}>
      <p>
        {text ?? detail} {problem && <span className="mono">{problem.code}</span>}
      </p>
      {text === null && faults.length > 0 && (
        <ul>
          {faults.map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              <span className="mono">{pointer}</span> {message}
            </li>
          ))}
        </ul>
      )}
      {problem && <p className="muted">Request {problem.request_id}</p>}
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
