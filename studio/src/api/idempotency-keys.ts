import { type ChangeRequest, RequestFailed } from './client';

/** Returns a new idempotency key. Does not use `randomUUID`, because it exists on secure origins only. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Idempotency keys of sent requests whose outcome is unknown, by the text of the request. */
const unanswered = new Map<string, string>();

/** Returns true if it is certain whether the request took effect. `error` is null after a success. */
export function isOutcomeKnown(error: unknown): boolean {
  if (error === null) return true;
  if (!(error instanceof RequestFailed)) return false;
  if (error.status === 0 || error.status >= 500) return false;
  return error.problem?.code !== 'idempotency_key_in_use';
}

/**
 * Idempotency keys of a dialog. Every attempt to send a request has the same key until the outcome of the request is
 * known, even in a dialog that is opened later. A request with another body has another key. A known outcome ends the
 * use of the key, because the service would answer it with the stored response.
 */
export class IdempotencyKeys {
  private readonly drafts = new Map<string, string>();

  /** Builds a request with its idempotency key. Returns null if `build` returns null. */
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
  /** JSON of the request with an empty key. */
  readonly text: string;
  readonly key: string;
  readonly request: ChangeRequest;
}
