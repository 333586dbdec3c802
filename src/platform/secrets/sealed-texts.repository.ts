import { Injectable } from '@nestjs/common';
import { Database, untilWritersEnd } from '../database';
import type { SealedColumn } from './sealed-columns';

export interface SealedText {
  readonly key: string;
  readonly sealed: string;
}

/** Rows of a table that are read together, in the order of their keys. */
interface SealedPage {
  /** Key of the last row that was read; null if there were no more rows. */
  readonly lastKey: string | null;
  /** Texts on this page that are encrypted with another key than the requested `keyId`. */
  readonly stale: readonly SealedText[];
}

@Injectable()
export class SealedTextsRepository {
  constructor(private readonly database: Database) {}

  /** Waits until all transactions that wrote to a table have ended; returns false if one is open after `limitMs`. */
  untilWritersEnd({ table }: SealedColumn, limitMs: number): Promise<boolean> {
    return untilWritersEnd(this.database, table, limitMs);
  }

  /** Reads the rows after a primary key, and returns their texts that are encrypted with another key than `keyId`. */
  async page(
    { table, key, column }: SealedColumn,
    {
      after,
      keyId,
      limit,
    }: { readonly after: string; readonly keyId: string; readonly limit: number },
  ): Promise<SealedPage> {
    const [row] = await this.database.query<{ last: string | null; stale: SealedText[] }>(
      `WITH page AS (
         SELECT "${key}" AS key, "${column}" AS sealed FROM "${table}"
         WHERE "${key}" > $1 ORDER BY "${key}" LIMIT $3)
       SELECT max(key) AS last,
         coalesce(json_agg(json_build_object('key', key, 'sealed', sealed))
           FILTER (WHERE starts_with(sealed, 'v1:') AND NOT starts_with(sealed, $2)), '[]') AS stale
       FROM page`,
      [after, `v1:${keyId}:`, limit],
    );
    return { lastKey: row?.last ?? null, stale: row?.stale ?? [] };
  }

  /** Replaces texts that were not changed or deleted since they were read. Returns the number of replaced texts. */
  async replace(
    { table, key, column }: SealedColumn,
    changes: readonly { readonly former: SealedText; readonly sealed: string }[],
  ): Promise<number> {
    const rows = await this.database.query(
      `UPDATE "${table}" AS stored SET "${column}" = change.sealed
       FROM unnest($1::text[], $2::text[], $3::text[]) AS change (key, former, sealed)
       WHERE stored."${key}" = change.key COLLATE "C" AND stored."${column}" = change.former
       RETURNING 1`,
      [
        changes.map(({ former }) => former.key),
        changes.map(({ former }) => former.sealed),
        changes.map(({ sealed }) => sealed),
      ],
    );
    return rows.length;
  }
}
