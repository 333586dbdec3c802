/** Encrypted signing secret of an endpoint. */
export interface WebhookSecret {
  readonly id: string;
  readonly endpointId: string;
  /** The secret, encrypted for the id of this row. */
  readonly sealed: string;
  readonly createdAt: Date;
  /** Null for the current secret; each endpoint has exactly one. Otherwise the instant a replaced secret expires. */
  readonly expiresAt: Date | null;
}

/** How long deliveries are signed with a replaced secret as well. */
const REPLACED_SECRET_MS = 24 * 3_600_000;

/**
 * Largest number of replaced secrets of an endpoint that are still valid. Limited because each of them adds a signature to the
 * header of every delivery.
 */
export const MAX_REPLACED_SECRETS = 10;

/** Returns the instant, exclusive, until which a secret replaced now is valid. */
export function expiryOfReplaced(now: Date): Date {
  return new Date(now.getTime() + REPLACED_SECRET_MS);
}
