import { Injectable, Logger } from '@nestjs/common';
import { Database } from './database';
import { isLockTimeout, isTableCreated, violatesCheck } from './postgres-errors';
import { monthsFrom } from './partition-months';

/**
 * Longest wait for the lock to create or drop a partition. It is short, because statements of other sessions queue
 * behind a waiting lock request. The next call tries again.
 */
const MAX_LOCK_WAIT_MS = 200;

/**
 * SQL that returns the partitions of a table, with their bounds. A bound is null if it is not an instant (`MINVALUE`),
 * or if the partition is the default one.
 */
const BOUNDS = `
  SELECT name, substring(bounds FROM $$FROM \\('([^']+)'\\)$$)::timestamptz AS start_at,
    substring(bounds FROM $$TO \\('([^']+)'\\)$$)::timestamptz AS end_at
  FROM (
    SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bounds
    FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = $1::regclass) AS partition`;

const OVERLAPPING = `
  SELECT name FROM (${BOUNDS}) AS partition
  WHERE coalesce(start_at, '-infinity') < $3::timestamptz AND end_at > $2::timestamptz LIMIT 1`;

const OLDEST = `
  SELECT name FROM (${BOUNDS}) AS partition WHERE end_at <= $2 ORDER BY end_at LIMIT 1`;

/**
 * SQL that returns statements, each of which creates a TRUNCATE trigger of the table on a partition that lacks it.
 * PostgreSQL itself copies only row triggers to partitions. With `OR REPLACE`, several processes can run the same
 * statement.
 */
const MISSING_TRIGGERS = `
  SELECT replace(
    replace(pg_get_triggerdef(refusal.oid, true), 'CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER'),
    format(' ON %s ', inhparent::regclass), format(' ON %s ', inhrelid::regclass)) AS sql
  FROM pg_trigger AS refusal JOIN pg_inherits ON inhparent = tgrelid
  WHERE tgrelid = $1::regclass AND tgtype & 32 <> 0
    AND NOT EXISTS (SELECT FROM pg_trigger AS own WHERE own.tgrelid = inhrelid AND own.tgname = refusal.tgname)
  ORDER BY inhrelid`;

/** Creates and drops the monthly partitions of tables. */
@Injectable()
export class Partitions {
  private readonly logger = new Logger('partitions');

  constructor(private readonly database: Database) {}

  /**
   * Creates the partitions of this month and the following months, each in a transaction of its own. Also creates the
   * TRUNCATE triggers of the table on each partition that lacks them. Skips a month in three cases:
   * - a partition already overlaps it;
   * - the lock is not free within 200 ms;
   * - the default partition has rows of that month.
   * @param months number of months, the current one included
   */
  async createMonths(table: string, now: Date, months: number): Promise<void> {
    for (const { suffix, from, to } of monthsFrom(now, months)) {
      if (await this.isCovered(table, from, to)) continue;
      const isCreated = await this.withShortWaits(
        `CREATE TABLE IF NOT EXISTS "${table}_${suffix}" PARTITION OF "${table}" FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
      if (isCreated) continue;
      const text =
        'a partition cannot be created: it is locked, or the default partition has rows of its month';
      this.logger.warn({ table, month: suffix }, text);
    }
    for (const { sql } of await this.database.query<{ sql: string }>(MISSING_TRIGGERS, [table])) {
      await this.withShortWaits(sql);
    }
  }

  /**
   * Drops the oldest partition whose range ends at or before an instant, and returns its name. Returns null if there is
   * no such partition, or if its lock is not free within 200 ms.
   */
  async dropOldest(table: string, before: Date): Promise<string | null> {
    const [oldest] = await this.database.query<{ name: string }>(OLDEST, [table, before]);
    if (oldest === undefined) return null;
    const isDropped = await this.withShortWaits(`DROP TABLE IF EXISTS "${oldest.name}"`);
    return isDropped ? oldest.name : null;
  }

  private async isCovered(table: string, from: string, to: string): Promise<boolean> {
    return (await this.database.query(OVERLAPPING, [table, from, to])).length > 0;
  }

  /**
   * Runs a statement in a transaction of its own. Returns false if a lock is not free within 200 ms, or if rows violate
   * the bounds of a new partition.
   */
  private async withShortWaits(sql: string): Promise<boolean> {
    try {
      await this.database.transaction(async () => {
        await this.database.query(`SET LOCAL lock_timeout = ${MAX_LOCK_WAIT_MS}`);
        await this.database.query(sql);
      });
      return true;
    } catch (error) {
      if (isLockTimeout(error) || violatesCheck(error)) return false;
      // Another process was faster. `IF NOT EXISTS` looks before it waits for the lock on the table.
      if (isTableCreated(error)) return true;
      throw error;
    }
  }
}
