import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import type { BilledElsewhere } from './domain/billed-together';
import { isInEffect } from './invoice-query';

/** Sums the lines of other invoices once for each item and period, which many lines can share. */
const BILLED_ELSEWHERE = `
  SELECT unnest(billed.line_ids) AS id, elsewhere.net::text, elsewhere.held::text
  FROM (
    SELECT item_id, period_start_at, period_end_at, array_agg(id) AS line_ids
    FROM invoice_line WHERE invoice_id = $1 AND kind <> 'credit' AND item_id IS NOT NULL
    GROUP BY item_id, period_start_at, period_end_at
  ) AS billed, LATERAL (
    SELECT sum(other.net - other.credited_net) AS net, sum(other.amount - other.discount - other.credited) AS held
    FROM invoice_line other JOIN invoice ON invoice.id = other.invoice_id AND ${isInEffect('invoice')}
    WHERE other.item_id = billed.item_id AND other.period_start_at = billed.period_start_at
      AND other.period_end_at = billed.period_end_at AND other.invoice_id <> $1 AND other.kind <> 'credit'
  ) AS elsewhere
  WHERE elsewhere.net IS NOT NULL`;

/**
 * True if usage billed by one of the lines `$1` was taken back by an invoice that was finalized at or after `$2`.
 * Ignores void invoices: when a void invoice is regenerated, its corrections are calculated again.
 */
const CORRECTED_SINCE = `
  SELECT EXISTS (SELECT FROM invoice_line line
    JOIN invoice_line other ON other.item_id = line.item_id
      AND other.period_start_at = line.period_start_at AND other.period_end_at = line.period_end_at
      AND other.kind = 'usage' AND (other.trace #>> '{corrects,differenceMinor,$bigint}')::bigint < 0
    JOIN invoice ON invoice.id = other.invoice_id AND invoice.finalized_at >= $2 AND ${isInEffect('invoice')}
  WHERE line.id = ANY ($1) AND line.kind <> 'credit') AS corrected`;

/** Reads what other invoices billed or corrected for the price and period of a line, for example late usage. */
@Injectable()
export class BilledTogetherRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns, by line id, what other invoices billed for the price and period of the line, less credits. Omits lines
   * whose price and period no other invoice billed.
   */
  async billedElsewhere(invoiceId: string): Promise<ReadonlyMap<string, BilledElsewhere>> {
    const rows = await this.database.query<{ id: string; net: string; held: string }>(
      BILLED_ELSEWHERE,
      [invoiceId],
    );
    return new Map(
      rows.map(({ id, net, held }) => [id, { netMinor: BigInt(net), heldMinor: BigInt(held) }]),
    );
  }

  /** Returns true if usage of these lines was taken back by an invoice that was finalized at or after `since`. */
  async isCorrectedSince(lineIds: readonly string[], since: Date): Promise<boolean> {
    const [found] = await this.database.query<{ corrected: boolean }>(CORRECTED_SINCE, [
      lineIds,
      since,
    ]);
    return found?.corrected === true;
  }
}
