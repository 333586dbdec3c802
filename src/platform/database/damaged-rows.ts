import type { Database } from './database';
import { isDataDamaged } from './postgres-errors';

interface DamagedRowReads<Row> {
  /** Reads all rows with their data. */
  readonly all: () => Promise<readonly Row[]>;
  /** Reads the same rows without the data that may be damaged. */
  readonly bare: () => Promise<readonly Row[]>;
  /** Reads one row again, with its data. */
  readonly one: (row: Row) => Promise<readonly Row[]>;
}

/**
 * Reads rows even if stored data of some rows is damaged, for example by a disk failure. If `all` fails because of
 * damaged data, reads the rows one by one with `one`. A row that still cannot be read is returned as `bare` reads it,
 * without its data. Must not run in a transaction, because a failed read would abort the transaction.
 */
export async function readDamagedRows<Row>({
  all,
  bare,
  one,
}: DamagedRowReads<Row>): Promise<readonly Row[]> {
  const rows = await nullIfDamaged(all());
  if (rows !== null) return rows;
  const found: Row[] = [];
  for (const row of await bare()) {
    const [whole] = (await nullIfDamaged(one(row))) ?? [];
    found.push(whole ?? row);
  }
  return found;
}

/**
 * Runs reads under a savepoint, and returns their result. Returns null if stored data that they need is damaged. An
 * open transaction stays usable in both cases.
 */
export function nullIfUnreadable<Result>(
  database: Database,
  reads: () => Promise<Result>,
): Promise<Result | null> {
  return database.transaction(() => nullIfDamaged(database.savepoint(reads)));
}

async function nullIfDamaged<Result>(read: Promise<Result>): Promise<Result | null> {
  try {
    return await read;
  } catch (error) {
    if (isDataDamaged(error)) return null;
    throw error;
  }
}
