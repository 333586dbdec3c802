import { Injectable } from '@nestjs/common';
import { fromJson } from '../../core/exact-json';
import type { Period } from '../../core/time';
import { Database } from '../../platform/database';
import type { EarlierBill } from './domain/decide-usage-lines';
import { type BilledLine, listedAmount } from './domain/held-lines';
import type { InvoiceLine, InvoiceTaxRate } from './domain/invoice';
import { InvoicesRepository } from './invoices.repository';

/**
 * A line whose unused part another invoice credited has none any more; true-ups are credited with their line. Ordered by
 * id, so that two who credit the same lines wait for each other instead of deadlocking.
 */
const BILLED_IN_ADVANCE = `
  SELECT line.id FROM unnest($1::text[], $2::timestamptz[]) AS credited (item_id, beyond)
    JOIN invoice_line line ON line.item_id = credited.item_id AND line.period_end_at > credited.beyond
    JOIN invoice ON invoice.id = line.invoice_id
  WHERE line.is_in_advance AND line.kind <> 'credit' AND invoice.status = ANY ($3)
    AND NOT EXISTS (SELECT FROM invoice_line credit JOIN invoice AS by ON by.id = credit.invoice_id
      WHERE credit.credits_line_id = line.id AND by.status <> 'void')
  ORDER BY line.id`;

const FINALIZED = ['open', 'paid', 'uncollectible'];

/** A void invoice counts as billed until it is regenerated, since only the regenerated invoice bills its usage again. */
const BILLED_USAGE = `
  SELECT line.id, invoice.status FROM invoice_line line JOIN invoice ON invoice.id = line.invoice_id
  WHERE line.item_id = $1 AND line.period_start_at = $2 AND line.period_end_at = $3
    AND line.kind IN ('usage', 'minimum', 'maximum') AND invoice.status <> 'draft'
    AND NOT EXISTS (SELECT FROM invoice AS again WHERE again.reissue_of_id = invoice.id)`;

const OF_INVOICES = `
  SELECT id, period_start_at, tax_rates FROM invoice WHERE id = ANY ($1)`;

/** Discounts of a billing period by redemption, less what credits returned to the coupon. */
const TAKEN = `
  SELECT coupon ->> 'redemptionId' AS redemption_id,
    sum((coupon #>> '{amountMinor,$bigint}')::bigint
      - coalesce((coupon #>> '{returnedMinor,$bigint}')::bigint, 0))::text AS taken
  FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS period (subscription_id, start_at, end_at)
    JOIN invoice USING (subscription_id) CROSS JOIN jsonb_array_elements(invoice.coupons) AS coupon
  WHERE invoice.status IN ('open', 'paid', 'uncollectible')
    AND (invoice.period_start_at = period.start_at
      OR invoice.period_start_at > period.start_at AND invoice.period_start_at < period.end_at)
  GROUP BY 1`;

/** Reads what finalized invoices billed, for what a later one credits, corrects or discounts. */
@Injectable()
export class BilledLinesRepository {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
  ) {}

  /**
   * Returns lines that billed items in advance beyond an instant, true-ups included: those of finalized invoices that are
   * not void, without lines whose unused part was credited.
   * @param lock true to keep other transactions from crediting these lines until this one ends. Otherwise lines of drafts
   *   are included: a draft is finalized before it is credited
   */
  async inAdvance(
    credited: readonly { readonly itemId: string; readonly unusedFrom: Date }[],
    lock: boolean,
  ): Promise<readonly BilledLine[]> {
    if (credited.length === 0) return [];
    const sql = lock ? `${BILLED_IN_ADVANCE} FOR UPDATE OF line` : BILLED_IN_ADVANCE;
    const found = await this.database.query<{ id: string }>(sql, [
      credited.map(({ itemId }) => itemId),
      credited.map(({ unusedFrom }) => unusedFrom),
      lock ? FINALIZED : ['draft', ...FINALIZED],
    ]);
    return this.withInvoices(await this.invoices.findLines(found.map(({ id }) => id)));
  }

  /** Returns the amounts billed for the usage of an item in a period, true-ups included, less later credits. */
  async usage(itemId: string, { startAt, endAt }: Period): Promise<Omit<EarlierBill, 'quantity'>> {
    const found = await this.database.query<{ id: string; status: string }>(BILLED_USAGE, [
      itemId,
      startAt,
      endAt,
    ]);
    const all = await this.invoices.findLines(found.map(({ id }) => id));
    const voided = new Set(found.filter(({ status }) => status === 'void').map(({ id }) => id));
    const lines = await this.withInvoices(all.filter(({ id }) => !voided.has(id)));
    return {
      amountMinor: total(all, listedAmount),
      heldMinor: total(lines, ({ amount, discount, credited }) => amount - discount - credited),
      lines,
    };
  }

  /** Returns the discount of each redemption in billing periods, in minor units; void invoices do not count. */
  async discountsTaken(
    periods: readonly { readonly subscriptionId: string; readonly period: Period }[],
  ): Promise<ReadonlyMap<string, bigint>> {
    if (periods.length === 0) return new Map();
    const rows = await this.database.query<{ redemption_id: string; taken: string }>(TAKEN, [
      periods.map(({ subscriptionId }) => subscriptionId),
      periods.map(({ period }) => period.startAt),
      periods.map(({ period }) => period.endAt),
    ]);
    return new Map(rows.map(({ redemption_id: id, taken }) => [id, BigInt(taken)]));
  }

  private async withInvoices(lines: readonly InvoiceLine[]): Promise<readonly BilledLine[]> {
    if (lines.length === 0) return [];
    const rows = await this.database.query<{
      id: string;
      period_start_at: Date | null;
      tax_rates: unknown;
    }>(OF_INVOICES, [[...new Set(lines.map(({ invoiceId }) => invoiceId))]]);
    const invoices = new Map(
      rows.map(({ id, period_start_at: billedFrom, tax_rates: rates }) => [
        id,
        { billedFrom, taxRates: fromJson(rates) as readonly InvoiceTaxRate[] },
      ]),
    );
    return lines.flatMap((line) => {
      const invoice = invoices.get(line.invoiceId);
      return invoice === undefined ? [] : [{ ...line, ...invoice }];
    });
  }
}

function total(lines: readonly InvoiceLine[], amountOf: (line: InvoiceLine) => bigint): bigint {
  return lines.reduce((sum, line) => sum + amountOf(line), 0n);
}
