import { type ChangeRequest, RequestFailed } from './client';

/** Returns a new idempotency key. `randomUUID` exists on secure origins only, so this does without. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Keys of requests that were sent and whose outcome is not known, by the text of the request. */
const unanswered = new Map<string, string>();

/** Returns true if the service has answered what became of the request: it was done, or nothing was done. */
export function isOutcomeKnown(error: unknown): boolean {
  if (error === null) return true;
  if (!(error instanceof RequestFailed)) return false;
  if (error.status === 0 || error.status >= 500) return false;
  return error.problem?.code !== 'idempotency_key_in_use';
}

/**
 * The idempotency keys of a dialog. A request has the same key in every attempt until its outcome is known, also in a dialog
 * that is opened later; another body has another key. After an answer the key is used up: the service would repeat the answer.
 */
export class IdempotencyKeys {
  private readonly drafts = new Map<string, string>();

  /** Returns the request that `build` makes with its key, or null if it makes none. */
  keyed(build: (idempotencyKey: string) => ChangeRequest | null): KeyedRequest | null {
    const draft = build('');
    if (draft === null) return null;
    const text = JSON.stringify(draft);
    const key = unanswered.get(text) ?? this.drafts.get(text) ?? newKey();
    this.drafts.set(text, key);
    const request = build(key);
    return request && { text, key, request };
  }

  begin({ text, key }: KeyedRequest): void {
    unanswered.set(text, key);
  }

  /** @param error null if the request succeeded */
  end({ text }: KeyedRequest, error: unknown): void {
    if (!isOutcomeKnown(error)) return;
    unanswered.delete(text);
    this.drafts.delete(text);
  }
}

/** A request with its idempotency key. */
export interface KeyedRequest {
  /** The request without its key. */
  readonly text: string;
  readonly key: string;
  readonly request: ChangeRequest;
}
