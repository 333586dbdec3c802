import { type ChangeRequest, RequestFailed } from './client';

/** Returns a new idempotency key. Does not use `randomUUID`, because it exists on secure origins only. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** A sent request whose outcome is unknown. */
interface Unanswered {
  readonly key: string;
  /** Number of attempts that are running or got no clear answer, so that they may have taken effect. */
  attempts: number;
}

/** Requests whose outcome is unknown, by the text of the request. */
const unanswered = new Map<string, Unanswered>();

/**
 * Outcome of one attempt to send a request.
 * - `final`: the answer of the service for the key. Every other attempt with the key has the same outcome.
 * - `refused`: refused before it was processed. This says nothing about other attempts with the key.
 * - `unknown`: it may have taken effect.
 */
type Outcome = 'final' | 'refused' | 'unknown';

/** Statuses of refusals that the service stores as the answer for the key: not found, conflict, broken rule. */
const STORED_STATUSES: readonly number[] = [404, 409, 422];

/** @param error null after a success */
function outcomeOf(error: unknown): Outcome {
  if (error === null) return 'final';
  if (!(error instanceof RequestFailed)) return 'unknown';
  const { status, problem, isTemporary } = error;
  if (status === 0 || status >= 500) return 'unknown';
  if (problem?.code === 'idempotency_key_in_use') return 'unknown';
  const isStored = problem !== null && !isTemporary && STORED_STATUSES.includes(status);
  return isStored ? 'final' : 'refused';
}

/**
 * Idempotency keys of a dialog. Every attempt to send a request has the same key until the outcome of the request is
 * known, even in a dialog that is opened later. A request with another body has another key. A final answer ends the
 * use of the key, because the service would repeat the stored answer.
 */
export class IdempotencyKeys {
  private readonly drafts = new Map<string, string>();

  /** Builds a request with its idempotency key. Returns null if `build` returns null. */
  keyed(build: (idempotencyKey: string) => ChangeRequest | null): KeyedRequest | null {
    const draft = build('');
    if (draft === null) return null;
    const text = JSON.stringify({ ...draft, ifMatch: undefined });
    const key = unanswered.get(text)?.key ?? this.drafts.get(text) ?? newKey();
    this.drafts.set(text, key);
    const request = build(key);
    return request && { text, key, request };
  }

  begin({ text, key }: KeyedRequest): void {
    const attempts = unanswered.get(text)?.attempts ?? 0;
    unanswered.set(text, { key, attempts: attempts + 1 });
  }

  /** @param error null if the request succeeded */
  end({ text, key }: KeyedRequest, error: unknown): void {
    const outcome = outcomeOf(error);
    if (outcome === 'final') this.drafts.delete(text);
    const sent = unanswered.get(text);
    if (outcome === 'unknown' || sent?.key !== key) return;
    sent.attempts -= 1;
    if (outcome === 'final' || sent.attempts === 0) unanswered.delete(text);
  }
}

/** Returns true if an attempt to send the request may have taken effect, and the service has given no final answer. */
export function isUnanswered({ text, key }: KeyedRequest): boolean {
  return unanswered.get(text)?.key === key;
}

/** A request with its idempotency key. */
export interface KeyedRequest {
  /** JSON of the request with an empty key and without its condition: the object may be read again between two attempts. */
  readonly text: string;
  readonly key: string;
  readonly request: ChangeRequest;
}
