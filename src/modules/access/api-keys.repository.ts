import { Injectable } from '@nestjs/common';
import type { GrantedScope } from '../../core/access';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import { ApiKeyEntity } from './api-key.entity';
import type { ApiKey } from './domain/api-key';

/** Columns of an API key that are needed to check a secret. */
export interface KeyHolderRow {
  readonly id: string;
  readonly scopes: readonly GrantedScope[];
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  /**
   * Time at which the checked secret stops working, if it is the previous secret of the key. Null for the current
   * secret.
   */
  readonly previous_expires_at: Date | null;
  readonly requests_per_minute: number | null;
  readonly usage_requests_per_minute: number | null;
}

const FIND_HOLDER = `
  SELECT id, scopes, expires_at, revoked_at, NULL::timestamptz AS previous_expires_at,
    requests_per_minute, usage_requests_per_minute
  FROM api_key WHERE hash = $1
  UNION ALL
  SELECT id, scopes, expires_at, revoked_at, previous_expires_at,
    requests_per_minute, usage_requests_per_minute
  FROM api_key WHERE previous_hash = $1`;

const TOUCH = `
  UPDATE api_key SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)`;

const LOCK_BOOTSTRAP = `SELECT pg_advisory_xact_lock(hashtext('bootstrap_api_key'))`;

/**
 * Condition: a key from `BOOTSTRAP_API_KEY` has its first secret. Later secrets of the key are generated and have a
 * prefix.
 */
const HAS_FIRST_SECRET = `created_by = 'bootstrap' AND (version = 1 OR prefix = '')`;

const REMEMBER_FIRST_SECRETS = `
  UPDATE api_key SET bootstrap_hash = hash WHERE bootstrap_hash IS NULL AND ${HAS_FIRST_SECRET}`;

/**
 * Replaces the secret, and stores both former secrets. The earlier one (`previous_hash`) is not stored yet if a process
 * of the previous release made the last roll.
 */
const ROLL = `
  WITH former AS (
    INSERT INTO api_key_former_secret (hash)
    SELECT secret.hash FROM api_key CROSS JOIN LATERAL unnest(ARRAY[hash, previous_hash]) AS secret (hash)
    WHERE id = $1 AND secret.hash IS NOT NULL
    ON CONFLICT DO NOTHING)
  UPDATE api_key
  SET bootstrap_hash = coalesce(bootstrap_hash, CASE WHEN ${HAS_FIRST_SECRET} THEN hash END),
    previous_hash = CASE WHEN $4::timestamptz IS NULL THEN NULL ELSE hash END,
    hash = $2, last_four = $3, previous_expires_at = $4, prefix = $5, version = $6, updated_at = $7
  WHERE id = $1`;

const BOOTSTRAP_KEYS = `
  SELECT coalesce(bool_or($1 IN (hash, previous_hash, bootstrap_hash)), false)
      OR EXISTS (SELECT FROM api_key_former_secret WHERE hash = $1) AS "isKnown",
    coalesce(bool_or(created_by = 'bootstrap' AND bootstrap_hash IS NULL), false) AS "isUncertain"
  FROM api_key`;

const ANY_USABLE = `
  SELECT 1 FROM api_key WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) LIMIT 1`;

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly database: Database) {}

  async insert(key: ApiKey, hash: string): Promise<void> {
    const bootstrapHash = key.createdBy === 'bootstrap' ? hash : null;
    await this.database.insert(ApiKeyEntity, { ...key, hash, previousHash: null, bootstrapHash });
  }

  find(id: string): Promise<ApiKey | null> {
    return this.database.selectOne(ApiKeyEntity, 'WHERE id = $1', [id]);
  }

  lock(id: string): Promise<ApiKey | null> {
    return this.database.selectOne(ApiKeyEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  page(request: PageRequest): Promise<Page<ApiKey>> {
    return new ListQuery('api_key').page(this.database, ApiKeyEntity, request);
  }

  async update(key: ApiKey): Promise<void> {
    const { name, scopes, expiresAt, revokedAt, version, updatedAt } = key;
    const { requestsPerMinute, usageRequestsPerMinute } = key;
    const limits = { requestsPerMinute, usageRequestsPerMinute };
    const columns = { name, scopes, expiresAt, revokedAt, version, updatedAt, ...limits };
    await this.database.update(ApiKeyEntity, key.id, columns);
  }

  /**
   * Stores the hash of a new secret, and remembers that of the old one. The old secret works until
   * `key.previousExpiresAt`; null: it stops at once.
   */
  async roll(key: ApiKey, hash: string): Promise<void> {
    const { lastFour, previousExpiresAt, prefix, version, updatedAt } = key;
    const values = [key.id, hash, lastFour, previousExpiresAt, prefix, version, updatedAt];
    await this.database.query(ROLL, values);
  }

  /** Returns the key whose current or previous secret has this hash; null if there is no such key. */
  async findHolder(hash: string): Promise<KeyHolderRow | null> {
    const [row] = await this.database.queryPrepared<KeyHolderRow>('find_api_key', FIND_HOLDER, [
      hash,
    ]);
    return row ?? null;
  }

  /** Makes other processes that want to store the bootstrap key wait until this transaction ends. */
  async lockBootstrap(): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(LOCK_BOOTSTRAP);
  }

  /** Stores the first secret's hash for bootstrap keys that a process of the previous release created without it. */
  async rememberFirstSecrets(): Promise<void> {
    await this.database.query(REMEMBER_FIRST_SECRETS);
  }

  /**
   * Returns one of:
   * - `known`: a key has or had the secret with this hash.
   * - `uncertain`: the first secret of a bootstrap key is unknown, so it may be this secret.
   * - `new`: no key has had the secret.
   */
  async statusOfBootstrapSecret(hash: string): Promise<'known' | 'uncertain' | 'new'> {
    const [row] = await this.database.query<{ isKnown: boolean; isUncertain: boolean }>(
      BOOTSTRAP_KEYS,
      [hash],
    );
    if (row?.isKnown === true) return 'known';
    return row?.isUncertain === true ? 'uncertain' : 'new';
  }

  async hasUsableKey(now: Date): Promise<boolean> {
    return (await this.database.query(ANY_USABLE, [now])).length > 0;
  }

  /** Records the use of a key, unless a later one is recorded. */
  async touch(id: string, now: Date): Promise<void> {
    await this.database.query(TOUCH, [id, now]);
  }
}
