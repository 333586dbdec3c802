import { Injectable } from '@nestjs/common';
import { nextVersion } from '../../core/next-version';
import { raise } from '../../platform/errors';
import { hashOf, newSecret, type Principal, requireHeldScopes } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Configuration } from '../../platform/config';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  revise,
  type VersionCondition,
} from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import {
  apiKeyNotFound,
  apiKeyRevoked,
  apiKeyRolling,
  expiryNotInFuture,
  limitAboveCeiling,
} from './access.errors';
import { apiKeyCreated, apiKeyRevokedEvent, apiKeyRolled, apiKeyUpdated } from './access.events';
import { ApiKeysRepository } from './api-keys.repository';
import { Credentials } from './credentials';
import {
  type ApiKey,
  type ApiKeyChange,
  type ApiKeyTerms,
  isRolling,
  revoked,
} from './domain/api-key';

/** A key and its new secret. The secret is not stored and cannot be read again. */
export interface KeyWithSecret {
  readonly key: ApiKey;
  readonly secret: string;
}

/** Terms of a key that never expires and has the rate limits of the configuration. */
const DEFAULT_TERMS = {
  expiresAt: null,
  requestsPerMinute: null,
  usageRequestsPerMinute: null,
} as const;

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeysRepository,
    private readonly credentials: Credentials,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {}

  /** @throws {ProblemError} `scope_not_held`, `expiry_not_in_future`, `limit_above_ceiling` */
  async create(
    terms: ApiKeyTerms,
    caller: Pick<Principal, 'id' | 'scopes'>,
  ): Promise<KeyWithSecret> {
    requireHeldScopes(terms.scopes, caller);
    this.requireFuture(terms.expiresAt);
    this.requireBelowCeilings(terms);
    const secret = newSecret(this.prefix);
    return { key: await this.store(terms, secret, caller.id), secret };
  }

  /**
   * Stores an API key with all scopes, and with a secret that an operator chose. Returns:
   * - `stored`: the key was stored.
   * - `known`: a key has or had this secret, even a revoked key. Nothing was stored.
   * - `uncertain`: it may be the first secret of a key that an earlier release rolled. Nothing was stored.
   */
  async createBootstrapKey(secret: string): Promise<'stored' | 'known' | 'uncertain'> {
    return this.database.transaction(async () => {
      await this.keys.lockBootstrap();
      await this.keys.rememberFirstSecrets();
      const status = await this.keys.statusOfBootstrapSecret(hashOf(secret));
      if (status !== 'new') return status;
      await this.store(
        { ...DEFAULT_TERMS, name: 'BOOTSTRAP_API_KEY', scopes: ['*'] },
        secret,
        'bootstrap',
      );
      return 'stored';
    });
  }

  /** @throws {ProblemError} `api_key_not_found` */
  async get(id: string): Promise<ApiKey> {
    return (await this.keys.find(id)) ?? raise(apiKeyNotFound(id));
  }

  list(request: PageRequest): Promise<Page<ApiKey>> {
    return this.keys.page(request);
  }

  /** Returns true if there is a key that is not revoked and not expired. */
  hasUsableKey(): Promise<boolean> {
    return this.keys.hasUsableKey(this.clock.now());
  }

  /**
   * Changes name, scopes, expiry or limits. If nothing changes, writes nothing and records no event.
   * @throws {ProblemError} `api_key_not_found`, `precondition_failed`, `api_key_revoked`, `scope_not_held`,
   *   `expiry_not_in_future`, `limit_above_ceiling`
   */
  update(
    id: string,
    change: ApiKeyChange,
    { expected, caller }: { readonly expected: VersionCondition; readonly caller: Principal },
  ): Promise<ApiKey> {
    return this.database.transaction(async () => {
      const before = await this.lockUsable(id, caller);
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      requireHeldScopes(after.scopes, caller);
      if (after.expiresAt?.getTime() !== before.expiresAt?.getTime()) {
        this.requireFuture(after.expiresAt);
      }
      // A limit above a ceiling that was lowered may stay.
      const changed = (limit: 'requestsPerMinute' | 'usageRequestsPerMinute') =>
        after[limit] === before[limit] ? null : after[limit];
      this.requireBelowCeilings({
        requestsPerMinute: changed('requestsPerMinute'),
        usageRequestsPerMinute: changed('usageRequestsPerMinute'),
      });
      await this.keys.update(after);
      await this.outbox.recordChange(apiKeyUpdated, { after, before }, now);
      this.database.afterCommit(() => this.credentials.forgetAll());
      return after;
    });
  }

  /**
   * Gives a key a new secret. The previous secret works for another `overlapMs` milliseconds; with 0, it stops working
   * at once.
   * @throws {ProblemError} `api_key_not_found`, `precondition_failed`, `api_key_revoked`, `scope_not_held`;
   *   `api_key_rolling` if `overlapMs` is above 0 and an earlier roll's overlap has not ended yet
   */
  roll(
    id: string,
    overlapMs: number,
    { expected, caller }: { readonly expected: VersionCondition; readonly caller: Principal },
  ): Promise<KeyWithSecret> {
    return this.database.transaction(async () => {
      const before = await this.lockUsable(id, caller);
      assertVersion(expected, before);
      const now = this.clock.now();
      if (overlapMs > 0 && before.previousExpiresAt !== null && isRolling(before, now)) {
        throw apiKeyRolling(id, before.previousExpiresAt);
      }
      const secret = newSecret(this.prefix);
      const after: ApiKey = nextVersion(before, now, {
        ...partsOf(secret),
        previousExpiresAt: overlapMs === 0 ? null : new Date(now.getTime() + overlapMs),
      });
      await this.keys.roll(after, hashOf(secret));
      await this.outbox.recordChange(apiKeyRolled, { after, before }, now);
      this.database.afterCommit(() => this.credentials.forgetAll());
      return { key: after, secret };
    });
  }

  /**
   * Revokes a key for good. Does nothing if the key is revoked already. The caller need not have the scopes of the key.
   * @throws {ProblemError} `api_key_not_found`, `precondition_failed`
   */
  revoke(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = (await this.keys.lock(id)) ?? raise(apiKeyNotFound(id));
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revoked(before, now);
      if (after === before) return;
      await this.keys.update(after);
      await this.outbox.recordChange(apiKeyRevokedEvent, { after, before }, now);
      this.database.afterCommit(() => this.credentials.forgetAll());
    });
  }

  private async store(terms: ApiKeyTerms, secret: string, createdBy: string): Promise<ApiKey> {
    const now = this.clock.now();
    const key: ApiKey = {
      ...terms,
      ...partsOf(secret),
      id: newId('key'),
      version: 1,
      previousExpiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      createdBy,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      await this.keys.insert(key, hashOf(secret));
      await this.outbox.record(apiKeyCreated, { after: key, occurredAt: now });
    });
    return key;
  }

  /** Locks a key that is not revoked. The caller must have all scopes of the key. */
  private async lockUsable(id: string, caller: Principal): Promise<ApiKey> {
    const key = (await this.keys.lock(id)) ?? raise(apiKeyNotFound(id));
    if (key.revokedAt !== null) throw apiKeyRevoked(id);
    requireHeldScopes(key.scopes, caller);
    return key;
  }

  private requireFuture(expiresAt: Date | null): void {
    if (expiresAt !== null && expiresAt <= this.clock.now()) throw expiryNotInFuture(expiresAt);
  }

  private requireBelowCeilings({
    requestsPerMinute,
    usageRequestsPerMinute,
  }: Pick<ApiKeyTerms, 'requestsPerMinute' | 'usageRequestsPerMinute'>): void {
    const { perCaller, usagePerCaller } = this.configuration.rateLimits.keyCeilings;
    if (requestsPerMinute !== null && requestsPerMinute > perCaller) {
      throw limitAboveCeiling('requests_per_minute', requestsPerMinute, perCaller);
    }
    if (usageRequestsPerMinute !== null && usageRequestsPerMinute > usagePerCaller) {
      throw limitAboveCeiling('usage_requests_per_minute', usageRequestsPerMinute, usagePerCaller);
    }
  }

  private get prefix(): string {
    return `sk_${this.configuration.environmentName}_`;
  }
}

const PREFIX = /^sk_[a-z0-9]{1,16}_/;

function partsOf(secret: string): Pick<ApiKey, 'prefix' | 'lastFour'> {
  return { prefix: PREFIX.exec(secret)?.[0] ?? '', lastFour: secret.slice(-4) };
}
