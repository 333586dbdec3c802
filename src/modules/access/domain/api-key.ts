import type { GrantedScope } from '../../../core/access';
import { type ChangeOf, nextVersion } from '../../../core/next-version';

/** Credential with which a program calls the API. Only the hash of its secret is stored, never the secret itself. */
export interface ApiKey {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly scopes: readonly GrantedScope[];
  /**
   * First characters of the secret, such as `sk_live_`, which show its kind and the environment. Empty if an operator
   * chose a secret of another form.
   */
  readonly prefix: string;
  readonly lastFour: string;
  readonly expiresAt: Date | null;
  /**
   * Time at which the previous secret stops working, or has stopped. Null if the last roll (replacement of the secret)
   * had no overlap, or if the key was never rolled.
   */
  readonly previousExpiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  /**
   * Maximum number of requests per minute, not counting requests that report or consume usage; null: the limit of the
   * configuration.
   */
  readonly requestsPerMinute: number | null;
  readonly usageRequestsPerMinute: number | null;
  /** Id of the caller that created the key; `bootstrap` for the key of the setting `BOOTSTRAP_API_KEY`. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ApiKeyTerms = Pick<
  ApiKey,
  'name' | 'scopes' | 'expiresAt' | 'requestsPerMinute' | 'usageRequestsPerMinute'
>;

export type ApiKeyChange = ChangeOf<ApiKey, keyof ApiKeyTerms>;

/** Returns the revoked key, or the key itself if it is revoked already. */
export function revoked(key: ApiKey, now: Date): ApiKey {
  if (key.revokedAt !== null) return key;
  return nextVersion(key, now, { revokedAt: now });
}

/** Returns true while the previous secret still works. */
export function isRolling({ previousExpiresAt }: ApiKey, now: Date): boolean {
  return previousExpiresAt !== null && previousExpiresAt > now;
}
