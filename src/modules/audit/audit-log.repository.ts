import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import {
  Database,
  isDatabaseUnavailable,
  type Page,
  pageFrom,
  type PageRequest,
  readDamagedRows,
} from '../../platform/database';
import { DamagedReads } from '../../platform/observability';
import type {
  AuditedChange,
  AuditEntry,
  AuditFilter,
  AuditHead,
  ExportedChange,
} from './domain/audit-entry';
import { ENTRY_OF_CHANGE } from './entry-of-change';
import { unpackedSql } from './unpacked-changes';

interface ChangeRow {
  readonly position: string;
  readonly action: string;
  readonly objectId: string;
  readonly fields?: object | null;
}

interface EntryChangeRow extends ChangeRow {
  readonly entryId: string;
}

/** Maximum number of changes that an entry shows. */
const MAX_CHANGES = 100;

const HEAD = `
  entry.id, entry.created_at AS "createdAt", entry.actor_type AS "actorType", entry.actor_id AS "actorId",
  entry.operation, entry.request_id AS "requestId", entry.address`;

const MATCHES = `
  ($1::varchar IS NULL OR entry.actor_id = $1)
  AND ($2::varchar IS NULL OR entry.operation = $2)
  AND ($3::timestamptz IS NULL OR entry.created_at >= $3)
  AND ($4::timestamptz IS NULL OR entry.created_at < $4)`;

/**
 * Returns SQL for a page of entries. The subquery on `audit_change` is included only if the filter names an object.
 * With one SQL for both cases (`$5 IS NULL OR entry.id IN (…)`), PostgreSQL would always read the whole subquery.
 */
const pageSql = ({ objectId }: AuditFilter): string => `
  SELECT ${HEAD} FROM audit_log AS entry
  WHERE ${MATCHES}
    AND ${objectId === null ? '$5::varchar IS NULL' : 'entry.id IN (SELECT entry_id FROM audit_change WHERE object_id = $5)'}
    AND ($6::varchar IS NULL OR entry.id < $6)
  ORDER BY entry.id DESC LIMIT $7`;

const CHANGE = `
  change.position, change.action, change.object_id AS "objectId", change.created_at, change.pack_position,
  change.pack_place`;

/**
 * Returns SQL for the first changes of each of the entries `$1`.
 * @param values SQL of the column `changes`: either the stored values, or NULL to leave them unread
 */
const changesOfEntries = (values: string): string => `
  SELECT ${CHANGE}, ${values}, change.entry_id AS "entryId"
  FROM unnest($1::varchar[]) AS wanted (id) CROSS JOIN LATERAL (
    SELECT * FROM audit_change WHERE entry_id = wanted.id
    ORDER BY position LIMIT ${MAX_CHANGES}) AS change`;

const COUNTS = `
  SELECT entry_id AS id, count(*)::integer AS count FROM audit_change
  WHERE entry_id = ANY ($1) GROUP BY entry_id`;

/**
 * Returns a function that returns SQL for matching changes.
 * @param condition SQL condition on `change`, then the order and limit
 */
const changesWhere =
  (condition: string) =>
  /** @param values SQL of the column `changes`: either the stored values, or NULL to leave them unread */
  (values: string): string => `
  SELECT ${HEAD}, ${CHANGE}, ${values} FROM audit_change AS change
  CROSS JOIN LATERAL (${ENTRY_OF_CHANGE}) AS entry
  WHERE ${MATCHES.replaceAll('entry.created_at', 'change.created_at')}
    AND ($5::varchar IS NULL OR change.object_id = $5) AND ${condition}`;

const WITHIN = changesWhere(
  'change.position > $6 AND change.position <= $7 ORDER BY change.position LIMIT $8',
);
const AT = changesWhere('change.position = ANY ($6::bigint[]) ORDER BY change.position');

/**
 * Selects the positions of the changes of matching entries, for all objects. The position is 0 for an entry without a
 * change.
 */
const POSITIONS = `
  WITH entry AS MATERIALIZED (
    SELECT id, created_at FROM audit_log AS entry WHERE ${MATCHES} LIMIT $5)
  SELECT coalesce(position, 0) FROM entry LEFT JOIN LATERAL (
    SELECT position FROM audit_change AS change
    WHERE change.entry_id = entry.id AND change.created_at = entry.created_at OFFSET 0) AS change ON true
  LIMIT $5`;

/**
 * Time limit in milliseconds for finding matching entries. Without a suitable index, few matches in a long range take
 * long to find. The export then reads all changes instead, which has no time limit.
 */
const LONGEST_SEARCH_MS = 2_000;

const FIRST_POSITION = `
  SELECT min(position) FROM audit_change
  WHERE position > $1 AND ($2::timestamptz IS NULL OR created_at >= $2) AND ($3::timestamptz IS NULL OR created_at < $3)`;

const VALUES = 'change.changes';
const NO_VALUES = 'NULL AS changes';

const ONE = unpackedSql(`
  SELECT ${CHANGE}, ${VALUES} FROM audit_change AS change WHERE position = $1`);

@Injectable()
export class AuditLogRepository {
  constructor(
    private readonly database: Database,
    private readonly damagedReads: DamagedReads,
  ) {}

  /** Returns a page of entries, newest first. */
  async page(filter: AuditFilter, { limit, after }: PageRequest): Promise<Page<AuditEntry>> {
    const heads = await this.database.query<AuditHead>(pageSql(filter), [
      ...parametersOf(filter),
      after,
      limit + 1,
    ]);
    const page = pageFrom(heads, limit, ({ id }) => id);
    return { ...page, items: await this.withChanges(page.items) };
  }

  async find(id: string): Promise<AuditEntry | null> {
    const sql = `SELECT ${HEAD} FROM audit_log AS entry WHERE id = $1`;
    const [entry] = await this.withChanges(await this.database.query<AuditHead>(sql, [id]));
    return entry ?? null;
  }

  /** Returns matching changes with positions in `(after, to]`, oldest first. */
  async changesWithin(
    { after, to }: { readonly after: bigint; readonly to: bigint },
    filter: AuditFilter,
    limit: number,
  ): Promise<readonly ExportedChange[]> {
    return this.exported(WITHIN, [...parametersOf(filter), after, to, limit]);
  }

  /** Returns those changes at these positions that match the filter, oldest first. */
  async changesAt(
    positions: readonly bigint[],
    filter: AuditFilter,
  ): Promise<readonly ExportedChange[]> {
    return this.exported(AT, [...parametersOf(filter), positions]);
  }

  /**
   * Returns the positions of the changes that match a filter by actor and operation, in ascending order. Ignores the
   * object of the filter. Null: there are more than `limit` positions, or finding them takes too long.
   */
  async findPositions(filter: AuditFilter, limit: number): Promise<readonly bigint[] | null> {
    const { actorId, operation, from, to } = filter;
    const parameters = [actorId, operation, from, to, limit + 1];
    const found = await this.database
      .transaction(async () => {
        await this.database.setTransactionTimeouts({ statementMs: LONGEST_SEARCH_MS });
        return this.database.queryValues<string>(POSITIONS, parameters);
      })
      .catch((error: unknown) => {
        if (isDatabaseUnavailable(error)) return null;
        throw error;
      });
    if (found === null || found.length > limit) return null;
    return found.map(BigInt).sort((a, b) => (a < b ? -1 : 1));
  }

  /**
   * Returns the position of the first change after `position` in the time range of the filter; null if there is no such
   * change.
   */
  async firstPositionAfter(position: bigint, { from, to }: AuditFilter): Promise<bigint | null> {
    const first = await this.database.queryValue<string>(FIRST_POSITION, [position, from, to]);
    return first === null ? null : BigInt(first);
  }

  private async exported(
    found: (values: string) => string,
    parameters: readonly unknown[],
  ): Promise<readonly ExportedChange[]> {
    const order = 'ORDER BY position';
    const rows = await this.changes<AuditHead & ChangeRow>(found, order, parameters);
    return rows.map(
      ({ id, createdAt, actorType, actorId, operation, requestId, address, ...row }) => {
        const head = { id, createdAt, actorType, actorId, operation, requestId, address };
        return { ...head, change: toChange(row) };
      },
    );
  }

  /** Reads changes with their values. Reports changes with missing or damaged values to {@link DamagedReads}. */
  private async changes<Row extends ChangeRow>(
    found: (values: string) => string,
    order: string,
    parameters: readonly unknown[],
  ): Promise<readonly Row[]> {
    const rows = await readDamagedRows<Row>({
      all: () => this.database.query(`${unpackedSql(found(VALUES))} ${order}`, parameters),
      bare: () => this.database.query(found(NO_VALUES), parameters),
      one: async (row) => {
        const [whole] = await this.database.query<ChangeRow>(ONE, [row.position]);
        return whole === undefined ? [] : [{ ...row, fields: whole.fields }];
      },
    });
    const lost = rows.filter(({ fields }) => (fields ?? null) === null);
    this.damagedReads.report(
      'audit_change',
      lost.map(({ position }) => position),
    );
    return rows;
  }

  private async withChanges(heads: readonly AuditHead[]): Promise<readonly AuditEntry[]> {
    if (heads.length === 0) return [];
    const ids = heads.map(({ id }) => id);
    const rows = await this.changes<EntryChangeRow>(changesOfEntries, '', [ids]);
    const counts = await this.database.query<{ id: string; count: number }>(COUNTS, [ids]);
    const countOf = new Map(counts.map(({ id, count }) => [id, count]));
    const changesOf = groupBy(rows, ({ entryId }) => entryId);
    return heads.map((head) => ({
      ...head,
      changes: inOrder((changesOf.get(head.id) ?? []).map(toChange)),
      changeCount: countOf.get(head.id) ?? 0,
    }));
  }
}

function parametersOf({ actorId, operation, objectId, from, to }: AuditFilter): readonly unknown[] {
  return [actorId, operation, from, to, objectId];
}

function inOrder(changes: readonly AuditedChange[]): readonly AuditedChange[] {
  return [...changes].sort((a, b) => (a.position < b.position ? -1 : 1));
}

function toChange({ position, action, objectId, fields = null }: ChangeRow): AuditedChange {
  return { position: BigInt(position), action, objectId, fields };
}
