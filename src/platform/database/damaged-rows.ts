import type { Database } from './database';
import { isDataDamaged } from './postgres-errors';

interface DamagedRowReads<Row> {
  /** Reads all rows with their data. */
  readonly all: () => Promise<readonly Row[]>;
  /** Reads the same rows without the data that may be damaged. */
  readonly bare: () => Promise<readonly Row[]>;
  /** Reads one of these rows with its data. */
  readonly one: (row: Row) => Promise<readonly Row[]>;
}

/**
 * Reads rows even if the database cannot read the data of some, as after a disk failure: then each row is read by itself, and
 * unreadable rows are returned as `bare` reads them. Call it outside of a transaction, because a failed read would end it.
 */
export async function readDamagedRows<Row>({
  all,
  bare,
  one,
}: DamagedRowReads<Row>): Promise<readonly Row[]> {
  const rows = await unlessDamaged(all());
  if (rows !== null) return rows;
  const found: Row[] = [];
  for (const row of await bare()) {
    const [whole] = (await unlessDamaged(one(row))) ?? [];
    found.push(whole ?? row);
  }
  return found;
}

/**
 * Returns the result of reads, or null if the database cannot read their data. The open transaction can go on reading afterwards.
 */
export function unlessUnreadable<Result>(
  database: Database,
  reads: () => Promise<Result>,
): Promise<Result | null> {
  return database.transaction(() => unlessDamaged(database.savepoint(reads)));
}

async function unlessDamaged<Result>(read: Promise<Result>): Promise<Result | null> {
  try {
    return await read;
  } catch (error) {
    if (isDataDamaged(error)) return null;
    throw error;
  }
}
