import { createHash } from 'node:crypto';
import type { Period } from '../../../core/time';
import type { Database } from '../../../platform/database';

const KEYS_PER_FETCH = 10_000;

const OPEN_KEYS = `
  DECLARE usage_keys NO SCROLL CURSOR FOR
  SELECT idempotency_key AS key FROM usage_event
  WHERE stream_id = $1 AND occurred_at >= $2 AND occurred_at < $3
  ORDER BY occurred_at, idempotency_key`;

const NEXT_KEYS = `FETCH ${KEYS_PER_FETCH} FROM usage_keys`;

export interface KeysDigest {
  /** SHA-256, in hex, of the idempotency keys, in the order of timestamp and key, each followed by a line feed. */
  readonly digest: string;
  readonly keys: number;
}

/**
 * Computes the digest of the keys of the stored events of a customer and event name in a period. Needs an open
 * transaction, because it reads the keys with a cursor.
 */
export async function digestKeys(
  database: Database,
  stream: string,
  { startAt, endAt }: Period,
): Promise<KeysDigest> {
  database.requireTransaction();
  const hash = createHash('sha256');
  let keys = 0;
  await database.query(OPEN_KEYS, [stream, startAt, endAt]);
  for (;;) {
    const page = await database.query<{ key: string }>(NEXT_KEYS);
    if (page.length === 0) break;
    keys += page.length;
    hash.update(page.map(({ key }) => `${key}\n`).join(''));
  }
  return { digest: hash.digest('hex'), keys };
}
