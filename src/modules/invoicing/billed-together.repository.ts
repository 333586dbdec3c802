import { Injectable } from '@nestjs/common';
import { fromJson } from '../../core/exact-json';
import type { TaxShare } from '../../core/tax';
import { Database } from '../../platform/database';
import type { BilledElsewhere } from './domain/billed-together';
import { sumByRate } from './domain/credit-note';
import { isInEffect } from './invoice-query';

/**
 * Sums what other invoices billed for the items and periods of an invoice. Makes one sum for each item and period,
 * because several lines of the invoice can have the same ones.
 */
const BILLED_ELSEWHERE = `
  SELECT billed.line_ids, elsewhere.net::text, elsewhere.taxes, elsewhere.credited_taxes
  FROM (
    SELECT item_id, period_start_at, period_end_at, array_agg(id) AS line_ids
    FROM invoice_line WHERE invoice_id = $1 AND kind <> 'credit' AND item_id IS NOT NULL
    GROUP BY item_id, period_start_at, period_end_at
  ) AS billed, LATERAL (
    SELECT sum(other.net - other.credited_net) AS net,
      jsonb_agg(other.tax_shares) AS taxes, jsonb_agg(other.credited_tax_shares) AS credited_taxes
    FROM invoice_line other JOIN invoice ON invoice.id = other.invoice_id AND ${isInEffect('invoice')}
    WHERE other.item_id = billed.item_id AND other.period_start_at = billed.period_start_at
      AND other.period_end_at = billed.period_end_at AND other.invoice_id <> $1 AND other.kind <> 'credit'
  ) AS elsewhere
  WHERE elsewhere.net IS NOT NULL`;

/**
 * Finds the newest finalized, non-void invoice that credited unused time of the lines, or lowered the amount billed for
 * their usage. Void invoices do not count, because their credits and corrections are calculated again when they are
 * regenerated. A usage correction is recognized by its amount at list prices (`differenceMinor`; absent from older
 * lines). Its `amount` can be 0, because discounts can leave nothing to give back.
 * @param later SQL condition: only invoices that meet it count
 */
const takenBack = (later: string): string => `
  SELECT invoice.id FROM (
      SELECT DISTINCT item_id, period_start_at, period_end_at FROM invoice_line
      WHERE id = ANY ($1) AND kind <> 'credit'
    ) AS line
    JOIN invoice_line billed USING (item_id, period_start_at, period_end_at),
    LATERAL (
      SELECT billed.invoice_id WHERE billed.kind = 'usage' AND billed.trace -> 'corrects' <> 'null'
        AND coalesce((billed.trace #>> '{corrects,differenceMinor,$bigint}')::bigint, billed.amount) < 0
      UNION ALL
      SELECT credit.invoice_id FROM invoice_line credit WHERE credit.credits_line_id = billed.id) AS taken
    JOIN invoice ON invoice.id = taken.invoice_id AND ${isInEffect('invoice')} AND ${later}
  ORDER BY invoice.id DESC LIMIT 1`;

const TAKEN_BACK_SINCE = takenBack('invoice.finalized_at >= $2');

/** Compares invoice numbers, not times, because a test clock can finalize several invoices at the same time. */
const TAKEN_BACK_AFTER = takenBack(
  '(length(invoice.number), invoice.number) > (length($2::text), $2::text)',
);

interface ElsewhereRow {
  readonly line_ids: readonly string[];
  readonly net: string;
  /** Tax shares of the lines on other invoices, as stored: one list for each line. */
  readonly taxes: unknown;
  readonly credited_taxes: unknown;
}

const sharesOf = (ofLines: unknown): readonly TaxShare[] =>
  (fromJson(ofLines) as readonly (readonly TaxShare[])[]).flat();

/** Reads the amounts that other invoices billed or credited for the item and period of an invoice line. */
@Injectable()
export class BilledTogetherRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns what other invoices billed for the same item and period, by line id. Lines whose item and period are on no
   * other invoice are absent.
   */
  async billedElsewhere(invoiceId: string): Promise<BilledElsewhere> {
    const rows = await this.database.query<ElsewhereRow>(BILLED_ELSEWHERE, [invoiceId]);
    return new Map(
      rows.flatMap(({ line_ids: lineIds, net, taxes, credited_taxes: credited }) => {
        const taxShares = sumByRate(sharesOf(taxes), sharesOf(credited));
        const left = { netMinor: BigInt(net), taxShares };
        return lineIds.map((id) => [id, left] as const);
      }),
    );
  }

  /**
   * Returns the id of the newest non-void invoice, finalized at or after `since`, that credited unused time of these
   * lines or lowered the amount billed for their usage; null if there is none.
   */
  async takenBackSince(lineIds: readonly string[], since: Date): Promise<string | null> {
    const [id] = await this.database.queryValues<string>(TAKEN_BACK_SINCE, [lineIds, since]);
    return id ?? null;
  }

  /**
   * Returns true if a finalized, non-void invoice whose number follows `number` credited unused time of these lines, or
   * lowered the amount billed for their usage.
   */
  async isTakenBackAfter(lineIds: readonly string[], number: string): Promise<boolean> {
    const ids = await this.database.queryValues<string>(TAKEN_BACK_AFTER, [lineIds, number]);
    return ids.length > 0;
  }
}
