import type { GrantedScope } from '../../../core/access';
import { nextVersion } from '../../../core/next-version';

/** A secret that lets a program call the API. The secret itself is not stored. */
export interface ApiKey {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly scopes: readonly GrantedScope[];
  /** First characters of the secret, which show its kind and environment: `sk_live_`. */
  readonly prefix: string;
  readonly lastFour: string;
  readonly expiresAt: Date | null;
  /** Instant until which the secret that the last roll replaced still works; null if there is no such secret. */
  readonly previousExpiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** Maximum number of requests in a minute; null: the limit of the configuration. */
  readonly requestsPerMinute: number | null;
  readonly usageRequestsPerMinute: number | null;
  /** Principal that created the key. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ApiKeyTerms {
  readonly name: string;
  readonly scopes: readonly GrantedScope[];
  readonly expiresAt: Date | null;
  readonly requestsPerMinute: number | null;
  readonly usageRequestsPerMinute: number | null;
}

/** Change of the terms of a key. Undefined fields stay as they are. */
export type ApiKeyChange = { readonly [Term in keyof ApiKeyTerms]: ApiKeyTerms[Term] | undefined };

/** Returns the key with the change, or the key itself if nothing changes. */
export function withChange(key: ApiKey, change: ApiKeyChange, now: Date): ApiKey {
  const terms = {
    name: change.name ?? key.name,
    scopes: change.scopes ?? key.scopes,
    expiresAt: changed(change.expiresAt, key.expiresAt),
    requestsPerMinute: changed(change.requestsPerMinute, key.requestsPerMinute),
    usageRequestsPerMinute: changed(change.usageRequestsPerMinute, key.usageRequestsPerMinute),
  };
  if (isSame(terms, key)) return key;
  return nextVersion(key, now, terms);
}

function changed<Value>(change: Value | undefined, present: Value): Value {
  return change === undefined ? present : change;
}

function isSame(one: ApiKeyTerms, other: ApiKeyTerms): boolean {
  return (
    one.name === other.name &&
    one.scopes.join() === other.scopes.join() &&
    one.expiresAt?.getTime() === other.expiresAt?.getTime() &&
    one.requestsPerMinute === other.requestsPerMinute &&
    one.usageRequestsPerMinute === other.usageRequestsPerMinute
  );
}

/** Returns the revoked key, or the key itself if it is revoked already. */
export function revoked(key: ApiKey, now: Date): ApiKey {
  if (key.revokedAt !== null) return key;
  return nextVersion(key, now, { revokedAt: now });
}

/** Returns true while the secret that the last roll replaced still works. */
export function isRolling({ previousExpiresAt }: ApiKey, now: Date): boolean {
  return previousExpiresAt !== null && previousExpiresAt > now;
}
