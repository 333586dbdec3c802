import { Refusal } from './errors';

/** Response to a request, new or stored. */
export interface Answered {
  readonly status: number;
  readonly body: object;
}

interface Entry {
  readonly fingerprint: string;
  readonly createdMs: number;
  answered: Answered | null;
}

const RETENTION_MS = 24 * 3_600_000;
const MAX_LENGTH = 255;

/** Responses by idempotency key, including errors, kept for 24 hours (docs.stripe.com/api/idempotent_requests). */
export class IdempotencyKeys {
  private readonly entries = new Map<string, Entry>();

  /**
   * Returns the stored response to an earlier request with the same key, or null if the request must be executed.
   *
   * @throws Refusal (400) if the key is too long or the parameters differ, (409) while the first request is executing.
   */
  stored(key: string, fingerprint: string, nowMs: number): Answered | null {
    if (key.length > MAX_LENGTH) {
      throw refusal(400, `Idempotency keys may not be longer than ${MAX_LENGTH} characters.`);
    }
    const entry = this.entries.get(key);
    if (!entry || entry.createdMs <= nowMs - RETENTION_MS) return null;
    if (entry.fingerprint !== fingerprint) {
      throw refusal(
        400,
        `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      );
    }
    if (!entry.answered) {
      throw refusal(
        409,
        `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
        'idempotency_key_in_use',
      );
    }
    return entry.answered;
  }

  begin(key: string, fingerprint: string, nowMs: number): void {
    this.entries.set(key, { fingerprint, createdMs: nowMs, answered: null });
  }

  /** Removes the key of a request that was dropped before it was executed. */
  drop(key: string): void {
    this.entries.delete(key);
  }

  finish(key: string, answered: Answered): void {
    const entry = this.entries.get(key);
    if (entry) entry.answered = answered;
  }
}

function refusal(status: number, message: string, code?: string): Refusal {
  return new Refusal(status, {
    type: 'idempotency_error',
    message,
    ...(code !== undefined && { code }),
  });
}
