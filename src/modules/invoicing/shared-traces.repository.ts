import { Injectable } from '@nestjs/common';
import { toJson } from '../../core/exact-json';
import { Database } from '../../platform/database';
import type { InvoiceLine } from './domain/invoice';
import { splitTrace } from './domain/shared-trace';
import type { InvoiceLineEntity } from './invoice-line.entity';

/**
 * Stores the given parts of traces that are not stored yet. Returns the ids of all given parts, in their order. Takes
 * no lock, so two concurrent transactions can store the same part twice. A lock could make a transaction wait while it
 * blocks an invoice number series.
 */
const SHARE = `
  WITH given AS MATERIALIZED (
    SELECT place, trace, (
      SELECT min(id) FROM shared_trace AS known
      WHERE jsonb_hash_extended(known.trace, 0) = jsonb_hash_extended(given.trace, 0)
        AND known.trace = given.trace) AS known_id
    FROM unnest($1::jsonb[]) WITH ORDINALITY AS given (trace, place)),
  numbered AS MATERIALIZED (
    SELECT place, trace, known_id, coalesce(known_id, nextval('shared_trace_id')) AS id FROM given),
  added AS (
    INSERT INTO shared_trace (id, trace) SELECT id, trace FROM numbered WHERE known_id IS NULL)
  SELECT id::text AS id FROM numbered ORDER BY place`;

export interface LineToStore {
  readonly line: InvoiceLine;
  readonly stored: Pick<InvoiceLineEntity, 'trace' | 'sharedTraceId'>;
}

/** Stores parts that the calculations of many lines share, so that each part is rarely stored more than once. */
@Injectable()
export class SharedTracesRepository {
  constructor(private readonly database: Database) {}

  async store(lines: readonly InvoiceLine[]): Promise<readonly LineToStore[]> {
    this.database.requireTransaction();
    const parts = lines.map((line) => {
      const { shared, own } = splitTrace(line.trace);
      return { line, own, shared: shared === null ? null : JSON.stringify(toJson(shared)) };
    });
    const ids = await this.idsOf([...new Set(parts.flatMap(({ shared }) => shared ?? []))]);
    return parts.map(({ line, own, shared }) => ({
      line,
      stored: { trace: own, sharedTraceId: shared === null ? null : (ids.get(shared) ?? null) },
    }));
  }

  private async idsOf(shared: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    if (shared.length === 0) return new Map();
    const rows = await this.database.query<{ id: string }>(SHARE, [shared]);
    return new Map(shared.map((trace, index) => [trace, rows[index]?.id ?? null]));
  }
}
