import { Injectable } from '@nestjs/common';
import { fromJson } from '../../core/exact-json';
import { Database } from '../../platform/database';
import type { InvoiceLine } from './domain/invoice';
import { usagePeriodKey } from './domain/first-bill';
import type { UsageWithoutLine } from './domain/unstored-lines';
import type { UsageGroup } from './domain/usage';
import { toUsageRequest } from './domain/usage-bill';
import { isInEffect } from './invoice-query';
import { InvoicesRepository } from './invoices.repository';

const COUNT_CUSTOMERS = `
  SELECT count(DISTINCT customer_id)::int AS count FROM invoice
  WHERE subscription_id IS NOT NULL AND test_clock_id IS NULL`;

const CUSTOMERS_AFTER = `
  SELECT DISTINCT customer_id FROM invoice
  WHERE customer_id > $1 AND subscription_id IS NOT NULL AND test_clock_id IS NULL
  ORDER BY customer_id LIMIT $2`;

/** Ignores void invoices, because the invoices that replace them bill the same charges again. */
const BILLED = `
  SELECT line.id, invoice.customer_id
  FROM invoice JOIN invoice_line line ON line.invoice_id = invoice.id
  WHERE invoice.customer_id = ANY ($1) AND invoice.subscription_id IS NOT NULL
    AND ${isInEffect('invoice')} AND line.price_id = ANY ($2)
    AND line.full_period_start_at >= $3 AND line.full_period_start_at < $4`;

/**
 * Finds billed usage that no invoice line has: nothing was used, late usage did not change the amount due, or the lines
 * were stored with other usage, as on a regenerated invoice. Returns the newest records of each item and period, one for
 * each group. Leaves out two kinds of records:
 * - Records made before an invoice that billed the period was voided. A record of the same instant as the void, as on a
 *   test clock, stays if it is not for late usage and the period has lines on finalized, non-void invoices.
 * - Records without usage, if the bill of their period is void and was not replaced.
 */
const USAGE_WITHOUT_LINE = `
  WITH newest AS (
    SELECT DISTINCT ON (item_id, period_start_at, period_end_at, group_key) billed.*, stream.customer_id,
      max(up_to_position) OVER (PARTITION BY item_id, period_start_at, period_end_at) AS newest_position
    FROM usage_stream AS stream JOIN usage_billed AS billed ON billed.stream_id = stream.id
    WHERE stream.customer_id = ANY ($1) AND billed.terms #>> '{price,priceId}' = ANY ($2)
      AND billed.period_end_at > $3 AND (billed.terms #>> '{fullPeriod,startAt,$instant}')::timestamptz >= $3
      AND (billed.terms #>> '{fullPeriod,startAt,$instant}')::timestamptz < $4
    ORDER BY item_id, period_start_at, period_end_at, group_key, up_to_position DESC, id DESC
  ), billed AS (
    SELECT *, bool_or(invoice_line_id IS NOT NULL) OVER (PARTITION BY item_id, period_start_at, period_end_at) AS has_line
    FROM newest WHERE up_to_position = newest_position
  )
  SELECT id, customer_id AS "customerId", counted_from_at AS "countedFrom", up_to_position::text AS "upToPosition",
    terms, group_key AS "group", quantity::text, events::text
  FROM billed CROSS JOIN LATERAL (
    SELECT coalesce(bool_or(${isInEffect('invoice')}), false) AS are_in_effect, max(invoice.voided_at) AS voided_at
    FROM invoice_line AS line JOIN invoice ON invoice.id = line.invoice_id
    WHERE line.item_id = billed.item_id AND line.period_start_at = billed.period_start_at
      AND line.period_end_at = billed.period_end_at) AS lines
  CROSS JOIN LATERAL (
    WITH RECURSIVE made AS (
      SELECT id, status FROM invoice WHERE id = billed.terms #>> '{billTerms,invoiceId}'
      UNION ALL SELECT again.id, again.status FROM made JOIN invoice AS again ON again.reissue_of_id = made.id)
    SELECT coalesce(bool_or(${isInEffect('made')}), true) AS is_in_effect FROM made) AS bill
  WHERE NOT has_line AND (lines.voided_at IS NULL OR lines.voided_at < billed.created_at
    OR lines.voided_at = billed.created_at AND lines.are_in_effect AND NOT billed.is_late)
    AND (events > 0 OR quantity <> 0 OR bill.is_in_effect)
  ORDER BY item_id, period_start_at, period_end_at, group_key`;

export interface CustomerLine {
  readonly customerId: string;
  readonly line: InvoiceLine;
}

interface UsageRow {
  readonly id: string;
  readonly customerId: string;
  readonly countedFrom: Date;
  readonly upToPosition: string;
  readonly terms: unknown;
  readonly group: string;
  readonly quantity: string;
  readonly events: string;
}

/** Reads billed lines and usage for simulations, for a few customers at a time, without locks. */
@Injectable()
export class SimulationRepository {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
  ) {}

  /** Returns the number of customers that {@link customersAfter} returns on all pages. */
  async countCustomers(): Promise<number> {
    return (await this.database.queryValue<number>(COUNT_CUSTOMERS)) ?? 0;
  }

  /**
   * Returns the ids of the next customers after `id` that have invoices for subscriptions, in ascending order. Leaves
   * out customers on test clocks.
   */
  customersAfter(id: string, limit: number): Promise<readonly string[]> {
    return this.database.queryValues<string>(CUSTOMERS_AFTER, [id, limit]);
  }

  /**
   * Returns the lines for these prices whose `fullPeriod` (the period before proration) starts in `[from, to)`, oldest
   * first.
   */
  async billedLines(
    customerIds: readonly string[],
    priceIds: readonly string[],
    { from, to }: { readonly from: Date; readonly to: Date },
  ): Promise<readonly CustomerLine[]> {
    const found = await this.database.query<{ id: string; customer_id: string }>(BILLED, [
      customerIds,
      priceIds,
      from,
      to,
    ]);
    const customerOf = new Map(found.map((row) => [row.id, row.customer_id]));
    const lines = await this.invoices.findLines([...customerOf.keys()]);
    return lines.map((line) => ({ customerId: customerOf.get(line.id) ?? '', line }));
  }

  /** Returns billed usage without an invoice line, at these prices, for periods that start in `[from, to)`. */
  async usageWithoutLine(
    customerIds: readonly string[],
    priceIds: readonly string[],
    { from, to }: { readonly from: Date; readonly to: Date },
  ): Promise<readonly UsageWithoutLine[]> {
    const parameters = [customerIds, priceIds, from, to];
    const rows = await this.database.query<UsageRow>(USAGE_WITHOUT_LINE, parameters);
    const found = new Map<string, UsageWithoutLine>();
    for (const { terms, group, quantity, events, upToPosition, ...row } of rows) {
      const request = toUsageRequest(fromJson(terms));
      const key = usagePeriodKey(request);
      const part = {
        group: request.isByGroup ? (JSON.parse(group) as UsageGroup) : null,
        quantity,
        events: BigInt(events),
      };
      const before = found.get(key);
      found.set(
        key,
        before === undefined
          ? { ...row, request, upToPosition: BigInt(upToPosition), parts: [part] }
          : { ...before, parts: [...before.parts, part] },
      );
    }
    return [...found.values()];
  }
}
