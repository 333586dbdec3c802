import { Injectable } from '@nestjs/common';
import { Database } from '../database';
import type { Answer, ClaimedKey, KnownKey } from './idempotency.types';

interface KeyRow {
  readonly fingerprint: string;
  readonly resource_id: string | null;
  readonly answer_status: number | null;
  readonly answer_headers: Record<string, string> | null;
  readonly answer_body: string | null;
}

/**
 * Claims a key. The transaction holds an advisory lock on a hash of the key until the transaction ends. A second
 * request that does not get the lock knows at once that the first request is running. Without the lock, the INSERT of
 * the second request would wait for the first transaction. Two different keys with the same hash also exclude each
 * other while one is claimed.
 */
const CLAIM = `
  INSERT INTO idempotency_key (key, fingerprint, resource_id, created_at, expires_at)
  SELECT $1::varchar, $2::char(64), $3::varchar, $4::timestamptz, $5::timestamptz
  WHERE pg_try_advisory_xact_lock(hashtextextended($1::varchar, 0))
  ON CONFLICT (key) DO UPDATE
    SET fingerprint = excluded.fingerprint, resource_id = excluded.resource_id,
        created_at = excluded.created_at, expires_at = excluded.expires_at,
        answer_status = NULL, answer_headers = NULL, answer_body = NULL
    WHERE idempotency_key.expires_at <= excluded.created_at
  RETURNING key`;

const FIND = `
  SELECT fingerprint, resource_id, answer_status, answer_headers, answer_body
  FROM idempotency_key WHERE key = $1 AND expires_at > $2`;

const COMPLETE_KEY = `
  UPDATE idempotency_key SET answer_status = $2, answer_headers = $3::json, answer_body = $4
  WHERE key = $1 AND answer_status IS NULL`;

const COMPLETE_RESOURCE = `
  UPDATE idempotency_key SET answer_status = $2, answer_headers = $3::json, answer_body = $4
  WHERE resource_id = $1 AND answer_status IS NULL RETURNING key`;

const RELEASE_RESOURCES = `
  DELETE FROM idempotency_key WHERE resource_id = ANY ($1) AND answer_status IS NULL`;

const REMOVE_EXPIRED = `
  DELETE FROM idempotency_key WHERE key IN (
    SELECT key FROM idempotency_key WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
    FOR UPDATE SKIP LOCKED)
  RETURNING key`;

@Injectable()
export class IdempotencyRepository {
  constructor(private readonly database: Database) {}

  /** Returns false if another request, running or finished, has claimed the key. */
  async claim(claim: ClaimedKey): Promise<boolean> {
    const rows = await this.database.query(CLAIM, [
      claim.key,
      claim.fingerprint,
      claim.resourceId,
      claim.createdAt,
      claim.expiresAt,
    ]);
    return rows.length === 1;
  }

  async find(key: string, now: Date): Promise<KnownKey | null> {
    const [row] = await this.database.query<KeyRow>(FIND, [key, now]);
    if (row === undefined) return null;
    const { fingerprint, answer_status: status, answer_headers: headers, answer_body: body } = row;
    const answer =
      status === null || headers === null || body === null ? null : { status, headers, body };
    return { fingerprint, resourceId: row.resource_id, answer };
  }

  async complete(key: string, answer: Answer): Promise<void> {
    await this.database.query(COMPLETE_KEY, [key, ...columnsOf(answer)]);
  }

  /**
   * Stores the answer for the key that was claimed for this resource, and returns the key. Returns null if there is no
   * such key, or if it already has an answer.
   */
  completeResource(resourceId: string, answer: Answer): Promise<string | null> {
    return this.database.queryValue<string>(COMPLETE_RESOURCE, [resourceId, ...columnsOf(answer)]);
  }

  async releaseResources(resourceIds: readonly string[]): Promise<void> {
    await this.database.query(RELEASE_RESOURCES, [resourceIds]);
  }

  async removeExpired(now: Date, limit: number): Promise<number> {
    const rows = await this.database.query(REMOVE_EXPIRED, [now, limit]);
    return rows.length;
  }
}

function columnsOf({ status, headers, body }: Answer): readonly unknown[] {
  return [status, JSON.stringify(headers), body];
}
