import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { AuditSealEntity } from './audit-seal.entity';
import { rowHashesSql } from './row-hashes';
import { CHAIN_START, type ChainEnd, type SealedChanges, type Seal } from './seal';

/** Number and digest of changes. Uses the stored hashes of dropped changes, and the rows of all other changes. */
const CONTENT = `
  SELECT count(*)::integer AS count,
    encode(sha256(coalesce(string_agg(row_hash, ''::bytea ORDER BY position), ''::bytea)), 'hex') AS hash
  FROM (
    ${rowHashesSql('audit_change', 'position > $1 AND position <= $2')}
    UNION ALL
    SELECT position, row_hash FROM audit_dropped_change WHERE position > $1 AND position <= $2
  ) AS hashed`;

const BREAKS = `
  WHERE number = ANY (ARRAY(
    SELECT number FROM (
      SELECT *, lag(number, 1, 0::bigint) OVER chain AS former, lag(to_position, 1, 0::bigint) OVER chain AS reached
      FROM audit_seal WHERE number <= $1 WINDOW chain AS (ORDER BY number)) AS seal
    WHERE number <> former + 1 OR from_position <> reached ORDER BY number LIMIT $2))
  ORDER BY number`;

const WITH_UNEXPECTED_CHANGES = `
  WHERE number <= greatest($1, 1) AND to_position >= (SELECT min(position) FROM audit_change WHERE position <= $2)
    AND EXISTS (
      SELECT FROM audit_change AS change
      WHERE change.position <= least(to_position, $2) AND (from_position = 0 OR change.position > from_position))
  ORDER BY number LIMIT $3`;

const LAST_POSITION = `
  SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS position FROM audit_change_position`;

/** Start time of the server, which identifies the server. A standby that takes over has started at another time. */
const SERVER = 'extract(epoch FROM pg_postmaster_start_time())::text AS server';

const SNAPSHOT = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest,
    pg_snapshot_xmax(pg_current_snapshot())::text AS next, ${SERVER}`;

const NEW_NUMBER = `SELECT pg_current_xact_id()::text AS number, ${SERVER}`;

const FIRST_UNSEALED_AT = `
  SELECT created_at FROM audit_change
  WHERE position > coalesce((SELECT to_position FROM audit_seal ORDER BY number DESC LIMIT 1), 0)
  ORDER BY position LIMIT 1`;

/**
 * Entries without a change in a range of time. Limits both tables to the range, so that only its partitions are read.
 */
const WITHOUT_CHANGE = `
  SELECT id FROM audit_log AS entry
  WHERE entry.created_at >= $1::timestamptz AND entry.created_at < $2::timestamptz AND NOT EXISTS (
    SELECT FROM audit_change AS change
    WHERE change.entry_id = entry.id AND change.created_at = entry.created_at
      AND change.created_at >= $1::timestamptz AND change.created_at < $2::timestamptz)
  ORDER BY id LIMIT $3`;

interface TransactionNumbers {
  readonly oldest: bigint;
  readonly next: bigint;
  readonly server: string;
}

@Injectable()
export class SealsRepository {
  constructor(private readonly database: Database) {}

  /** Locks the chain of seals (checksums) until the transaction ends, so only one process at a time adds a seal. */
  async lockChain(): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(`SELECT pg_advisory_xact_lock(hashtext('audit_seal'))`);
  }

  /** Makes later queries of the transaction avoid scans of whole tables, which could also read damaged rows. */
  async readByIndexes(): Promise<void> {
    this.database.requireTransaction();
    for (const method of ['seqscan', 'hashjoin', 'mergejoin']) {
      await this.database.query(`SET LOCAL enable_${method} = off`);
    }
  }

  findLast(): Promise<Seal | null> {
    return this.database.selectOne(AuditSealEntity, 'ORDER BY number DESC LIMIT 1', []);
  }

  findByNumber(number: bigint): Promise<Seal | null> {
    return this.database.selectOne(AuditSealEntity, 'WHERE number = $1', [number]);
  }

  /** Returns the last seal (checksum over changes) that ends before a position, or the start of the chain. */
  async findLastBefore(position: bigint): Promise<ChainEnd> {
    const tail = 'WHERE to_position < $1 ORDER BY number DESC LIMIT 1';
    return (await this.database.selectOne(AuditSealEntity, tail, [position])) ?? CHAIN_START;
  }

  async countUpTo(number: bigint): Promise<{ readonly seals: number; readonly changes: number }> {
    const [row] = await this.database.query<{ seals: number; changes: string }>(
      'SELECT count(*)::integer AS seals, coalesce(sum(change_count), 0) AS changes FROM audit_seal WHERE number <= $1',
      [number],
    );
    return { seals: row?.seals ?? 0, changes: Number(row?.changes ?? 0) };
  }

  /**
   * Returns seals (checksums) up to `number` that do not continue the seal before them, because their number or first
   * position is wrong.
   */
  findBreaks(number: bigint, limit: number): Promise<readonly Seal[]> {
    return this.database.select(AuditSealEntity, BREAKS, [number, limit]);
  }

  /**
   * Returns seals (checksums) whose changes were dropped, but for which rows are still stored. Rows with positions
   * below 1 belong to no seal. If there are such rows, also returns the first seal.
   * @param last the last seal whose changes were all dropped, or the start of the chain
   */
  findWithUnexpectedChanges(
    last: Pick<ChainEnd, 'number' | 'to'>,
    limit: number,
  ): Promise<readonly Seal[]> {
    const parameters = [last.number, last.to, limit];
    return this.database.select(AuditSealEntity, WITH_UNEXPECTED_CHANGES, parameters);
  }

  /** Returns the seals (checksums over changes) after the seal `number`, in ascending order. */
  findAfter(number: bigint, limit: number): Promise<readonly Seal[]> {
    const tail = 'WHERE number > $1 ORDER BY number LIMIT $2';
    return this.database.select(AuditSealEntity, tail, [number, limit]);
  }

  async insert(seal: Seal): Promise<void> {
    await this.database.insert(AuditSealEntity, seal);
  }

  /** Returns number and hash of the changes with positions in `(from, to]`. */
  async hashChanges(from: bigint, to: bigint): Promise<SealedChanges> {
    const [row] = await this.database.query<{ count: number; hash: string }>(CONTENT, [from, to]);
    return { changeCount: row?.count ?? 0, hash: row?.hash ?? '' };
  }

  /** Returns the last position that a change has taken. The transaction of that change may still be open. */
  async lastPosition(): Promise<bigint> {
    return BigInt((await this.database.queryValue<string>(LAST_POSITION)) ?? 0);
  }

  /**
   * Returns two transaction numbers of the whole server, and the time when the server started. All transactions with
   * numbers below `oldest` have ended. No transaction with the number `next` or a higher number has ended.
   */
  async readTransactionNumbers(): Promise<TransactionNumbers> {
    const [row] = await this.database.query<Record<keyof TransactionNumbers, string>>(SNAPSHOT);
    const { oldest = 0, next = 0, server = '' } = row ?? {};
    return { oldest: BigInt(oldest), next: BigInt(next), server };
  }

  /**
   * Takes a transaction number, which is higher than those of all transactions that have begun to write. Also returns
   * when the server started.
   */
  async takeTransactionNumber(): Promise<{
    readonly transaction: bigint;
    readonly server: string;
  }> {
    const [row] = await this.database.query<{ number: string; server: string }>(NEW_NUMBER);
    return { transaction: BigInt(row?.number ?? 0), server: row?.server ?? '' };
  }

  async countChangesAfter(position: bigint): Promise<number> {
    const sql = 'SELECT count(*)::integer FROM audit_change WHERE position > $1';
    return (await this.database.queryValue<number>(sql, [position])) ?? 0;
  }

  /** Returns the time of the first change after the last seal (checksum); null if all changes are sealed. */
  findFirstUnsealedAt(): Promise<Date | null> {
    return this.database.queryValue<Date>(FIRST_UNSEALED_AT);
  }

  /**
   * Returns ids of entries without a change.
   * @param from first instant of the entries; may be `-infinity`
   * @param to instant before which the entries were made; may be `infinity`
   */
  findEntriesWithoutChange(from: string, to: string, limit: number): Promise<readonly string[]> {
    return this.database.queryValues<string>(WITHOUT_CHANGE, [from, to, limit]);
  }
}
