export interface WebhookSecret {
  readonly id: string;
  readonly endpointId: string;
  /** The signing secret, encrypted and bound to `id`: it cannot be decrypted with another id. */
  readonly sealed: string;
  readonly createdAt: Date;
  /** Expiry of a replaced secret; null for the current secret. Each endpoint has exactly one current secret. */
  readonly expiresAt: Date | null;
}

/** Time for which deliveries are also signed with a secret after it was replaced. */
const REPLACED_SECRET_MS = 24 * 3_600_000;

/**
 * Largest number of replaced secrets of an endpoint that are still valid. Limited because each secret adds a signature
 * to the header of every delivery.
 */
export const MAX_REPLACED_SECRETS = 10;

/** Returns the time at which a secret stops being valid if it is replaced at `now`. */
export function expiryOfReplaced(now: Date): Date {
  return new Date(now.getTime() + REPLACED_SECRET_MS);
}
