/** What the events sent to an endpoint are signed with, sealed. */
export interface WebhookSecret {
  readonly id: string;
  readonly endpointId: string;
  /** The secret, sealed for the id of this row. */
  readonly sealed: string;
  readonly createdAt: Date;
  /** null: the current one, of which each endpoint has exactly one. Otherwise replaced, and good until this instant. */
  readonly expiresAt: Date | null;
}

/** How long a replaced secret goes on signing beside the new one. */
const REPLACED_SECRET_MS = 24 * 3_600_000;

/** Every good secret adds a signature to each delivery, and headers have limits. */
export const MOST_REPLACED_SECRETS = 10;

/** Until when, not included, a secret replaced now is still good. */
export function expiryOfReplaced(now: Date): Date {
  return new Date(now.getTime() + REPLACED_SECRET_MS);
}
