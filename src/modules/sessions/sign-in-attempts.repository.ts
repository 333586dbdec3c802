import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';

/** Maximum number of attempts within {@link WINDOW_MS}. */
const MAX_ATTEMPTS = 5;
const WINDOW_MS = 15 * 60_000;

/**
 * Adds an attempt if fewer than {@link MAX_ATTEMPTS} were added within the last {@link WINDOW_MS}. The row lock makes
 * the count exact even if attempts are concurrent.
 */
const ADD = `
  INSERT INTO sign_in_attempt AS attempt (key, tried_at, last_tried_at)
  VALUES ($1, ARRAY[$2::timestamptz], $2)
  ON CONFLICT (key) DO UPDATE
  SET tried_at = ARRAY(SELECT t FROM unnest(attempt.tried_at) AS t WHERE t > $3) || $2::timestamptz,
    last_tried_at = $2
  WHERE (SELECT count(*) FROM unnest(attempt.tried_at) AS t WHERE t > $3) < ${MAX_ATTEMPTS}
  RETURNING key`;

const CLAIM = `
  INSERT INTO sign_in_attempt (key, tried_at, last_tried_at) VALUES ($1, ARRAY[$2::timestamptz], $2)
  ON CONFLICT DO NOTHING RETURNING key`;

const OLDEST = 'SELECT tried_at[1] AS oldest FROM sign_in_attempt WHERE key = $1';

const REMOVE_LAST = `
  UPDATE sign_in_attempt SET tried_at = tried_at[1:cardinality(tried_at) - 1] WHERE key = $1`;

/**
 * Deletes keys without a recent attempt. The outer condition checks the time again. While this statement waits for the
 * lock of a key, an attempt may be added to the key.
 */
const DELETE_OLD = `
  DELETE FROM sign_in_attempt WHERE last_tried_at < $1 AND key IN (
    SELECT key FROM sign_in_attempt WHERE last_tried_at < $1 ORDER BY last_tried_at LIMIT $2)
  RETURNING key`;

/** Counts attempts to sign in. All processes share the counts. */
@Injectable()
export class SignInAttemptsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Adds an attempt, and returns null. If the limit is reached, adds nothing, and returns the time at which the next
   * attempt is allowed.
   */
  async add(key: string, now: Date): Promise<Date | null> {
    const windowStart = new Date(now.getTime() - WINDOW_MS);
    const added = await this.database.query(ADD, [key, now, windowStart]);
    if (added.length > 0) return null;
    const oldest = await this.database.queryValue<Date>(OLDEST, [key]);
    return new Date((oldest ?? now).getTime() + WINDOW_MS);
  }

  /**
   * Uses up a key that may be used only once. Returns false if the key was used before. Used keys are remembered for at
   * least 15 minutes.
   */
  async claim(key: string, now: Date): Promise<boolean> {
    return (await this.database.query(CLAIM, [key, now])).length > 0;
  }

  async removeLast(key: string): Promise<void> {
    await this.database.query(REMOVE_LAST, [key]);
  }

  async removeAll(key: string): Promise<void> {
    await this.database.query('DELETE FROM sign_in_attempt WHERE key = $1', [key]);
  }

  /** Deletes at most `limit` keys whose last attempt is more than {@link WINDOW_MS} ago. Returns their number. */
  async deleteOld(now: Date, limit: number): Promise<number> {
    const windowStart = new Date(now.getTime() - WINDOW_MS);
    return (await this.database.query(DELETE_OLD, [windowStart, limit])).length;
  }
}
