import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { AuditDropEntity } from './audit-drop.entity';
import type { AuditDrop } from './domain/audit-drop';
import { rowHashesSql } from './row-hashes';
import { unpackedSql } from './unpacked-changes';

/**
 * Maximum time that a drop waits for its locks, in milliseconds. Readers and writers of the table wait behind a waiting
 * drop, so the drop gives up soon and is retried.
 */
const LONGEST_WAIT_MS = 200;

/** Months with a partition of `audit_log` and of `audit_change`. Rows of other months are in the default partitions. */
const MONTHS = `
  SELECT right(child.relname, 7) AS month
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent IN ('audit_log'::regclass, 'audit_change'::regclass)
    AND child.relname ~ '_[0-9]{4}_[0-9]{2}$'
  GROUP BY 1 HAVING count(*) = 2 ORDER BY 1`;

const OTHER_PARTITIONS = `
  SELECT child.relname AS name FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = 'audit_change'::regclass AND child.relname <> $1`;

const KEPT_DIGEST = `
  SELECT encode(sha256(coalesce(string_agg(row_hash, ''::bytea ORDER BY position), ''::bytea)), 'hex') AS digest
  FROM audit_dropped_change WHERE position > $1`;

/**
 * Finds differences between the rows of `audit_drop` and the entries `audit_log.dropped` in the audit log. Each drop of
 * a month has one row and one entry, with the same values. A row may lack its entry if the month of the entry was
 * dropped later. The last row always needs its entry.
 *
 * The `object_id` of these entries is the dropped month, which begins with a digit. Ids begin with a letter, so the
 * condition on `object_id` finds the entries in the index.
 */
const DIFFERENCES = `
  WITH recorded AS (
    SELECT object_id AS month, ${recordedValue('entry_count')}, ${recordedValue('change_count')},
      ${recordedValue('through_seal')}, ${recordedValue('kept_digest')}
    FROM (${unpackedSql(`
      SELECT position, object_id, created_at, changes, pack_position, pack_place FROM audit_change
      WHERE object_id >= '0' AND object_id < ':' AND action = 'audit_log.dropped'`)}) AS entry)
  SELECT 1 FROM recorded FULL JOIN audit_drop AS dropped
    ON recorded.month = dropped.month AND recorded.entry_count = dropped.entry_count::text
    AND recorded.change_count = dropped.change_count::text AND recorded.through_seal = dropped.through_seal::text
    AND recorded.kept_digest = dropped.kept_digest
  WHERE dropped.month IS NULL OR recorded.month IS NULL AND (
    SELECT dropped.number = max(number) OR to_char(dropped.dropped_at AT TIME ZONE 'UTC', 'YYYY_MM') > max(month)
    FROM audit_drop)
  LIMIT 1`;

interface MonthRange {
  /** Position of the last change of the month; null: the month has no changes. */
  readonly last: bigint | null;
  readonly changeCount: bigint;
  readonly entryCount: bigint;
}

@Injectable()
export class AuditDropsRepository {
  constructor(private readonly database: Database) {}

  /** Returns the months that have partitions of their own, such as `2026_03`, oldest first. */
  findDroppableMonths(): Promise<readonly string[]> {
    return this.database.queryValues<string>(MONTHS);
  }

  async readMonthRange(month: string): Promise<MonthRange> {
    const [row] = await this.database.query<Record<'last' | 'changes' | 'entries', string | null>>(
      `SELECT max(position) AS last, count(*) AS changes,
         (SELECT count(*) FROM "audit_log_${month}") AS entries FROM "audit_change_${month}"`,
    );
    return {
      last: toBigInt(row?.last),
      changeCount: BigInt(row?.changes ?? 0),
      entryCount: BigInt(row?.entries ?? 0),
    };
  }

  /** Returns the lowest position of a change outside the month; null if all changes belong to the month. */
  async firstPositionOutside(month: string): Promise<bigint | null> {
    const others = await this.database.query<{ name: string }>(OTHER_PARTITIONS, [
      `audit_change_${month}`,
    ]);
    const minima = others.map(({ name }) => `SELECT min(position) AS position FROM "${name}"`);
    const sql = `SELECT min(position) FROM (${minima.join(' UNION ALL ')}) AS minima`;
    return toBigInt(await this.database.queryValue<string>(sql));
  }

  /**
   * Stores the hashes of the month's changes after `position`. Returns a digest of all stored hashes after `position`,
   * including the hashes that earlier drops stored.
   */
  async storeHashes(month: string, position: bigint): Promise<string> {
    await this.database.query(
      `INSERT INTO audit_dropped_change (position, row_hash)
       ${rowHashesSql(`audit_change_${month}`, 'position > $1')}`,
      [position],
    );
    return this.digestStoredHashes(position);
  }

  async digestStoredHashes(position: bigint): Promise<string> {
    return (await this.database.queryValue<string>(KEPT_DIGEST, [position])) ?? '';
  }

  async countStoredHashes(): Promise<number> {
    const sql = 'SELECT count(*)::integer FROM audit_dropped_change';
    return (await this.database.queryValue<number>(sql)) ?? 0;
  }

  async insert(drop: AuditDrop): Promise<void> {
    await this.database.insert(AuditDropEntity, drop);
  }

  async hasDropped(month: string): Promise<boolean> {
    const sql = 'SELECT FROM audit_drop WHERE month = $1';
    return (await this.database.query(sql, [month])).length > 0;
  }

  /** Returns all drops, in the order in which they were made. */
  listAll(): Promise<readonly AuditDrop[]> {
    return this.database.select(AuditDropEntity, 'ORDER BY number', []);
  }

  /**
   * Returns true if each drop matches its entry in the audit log, with no drop and no entry missing. A drop needs no
   * entry if the month in which it was made was dropped later.
   */
  async areAsRecorded(): Promise<boolean> {
    return (await this.database.query(DIFFERENCES)).length === 0;
  }

  /**
   * Prevents months from being dropped until the transaction ends. Does not block writers. Must come before the first
   * query, which fixes the snapshot. Otherwise a month could be dropped after the snapshot. The transaction would then
   * see neither the rows of the month nor the record of its drop.
   */
  async keepMonths(): Promise<void> {
    this.database.requireTransaction();
    await this.database.query('LOCK TABLE audit_log, audit_change IN ACCESS SHARE MODE');
  }

  async limitLockWait(): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(`SET LOCAL lock_timeout = ${LONGEST_WAIT_MS}`);
  }

  /** Drops the partitions of a month. Also deletes the rows of `audit_usage_count` up to the end of the month. */
  async drop(month: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(
      `DELETE FROM audit_usage_count WHERE hour < (to_date($1, 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC'`,
      [month],
    );
    await this.database.query(`DROP TABLE "audit_log_${month}", "audit_change_${month}"`);
  }
}

function recordedValue(column: string): string {
  return `fields->'${column}'->>'after' AS ${column}`;
}

function toBigInt(text: string | null | undefined): bigint | null {
  return text === null || text === undefined ? null : BigInt(text);
}
