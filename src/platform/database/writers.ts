import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from './database';

const MIN_PAUSE_BETWEEN_CHECKS_MS = 10;
const MAX_PAUSE_BETWEEN_CHECKS_MS = 200;

/**
 * SQL that finds transactions that write to a table. Each of them holds a `RowExclusiveLock` on the table from its
 * first INSERT, UPDATE or DELETE until its changes are visible or rolled back.
 */
const WRITERS = `
  SELECT DISTINCT virtualtransaction FROM pg_locks
  WHERE locktype = 'relation' AND relation = $1::regclass AND mode = 'RowExclusiveLock' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Waits until all transactions that wrote to a table before the call have ended. Their rows are then either visible or
 * rolled back. Does not block writers.
 * @param limitMs longest wait, in milliseconds of real time
 * @returns false if one of the transactions is still open after `limitMs`
 * @throws {Error} if the caller has an open transaction, which is a defect
 */
export async function untilWritersEnd(
  database: Database,
  table: string,
  limitMs: number,
): Promise<boolean> {
  database.refuseTransaction('A wait for other transactions');
  const writers = () => database.queryValues<string>(WRITERS, [table]);
  const endsAt = performance.now() + limitMs;
  let remaining = await writers();
  for (
    let ms = MIN_PAUSE_BETWEEN_CHECKS_MS;
    remaining.length > 0;
    ms = Math.min(2 * ms, MAX_PAUSE_BETWEEN_CHECKS_MS)
  ) {
    if (performance.now() >= endsAt) return false;
    await pause(ms);
    const open = new Set(await writers());
    remaining = remaining.filter((id) => open.has(id));
  }
  return true;
}
