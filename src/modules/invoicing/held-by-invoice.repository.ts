import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import type { HeldByInvoice } from './domain/given-back';
import { isInEffect } from './invoice-query';

/**
 * Calculates how much of the charges of invoices is left, with tax. Negative lines (credits and usage corrections) take
 * back charges of earlier invoices, not of the invoice that contains them. So an invoice's charges are not lowered by
 * its own negative lines (`own`), but by those of later invoices (`later`, `corrected`). The trace of a usage
 * correction lists in `taken` the invoices whose charges it lowers, each with its part of the correction before
 * exclusive tax.
 */
const HELD = `
  SELECT invoice.id,
    (invoice.total - own.credited + later.credited + corrected.credited - note.total)::text AS held,
    note.to_refund::text AS "toRefund", invoice.amount_paid::text AS paid
  FROM invoice,
    LATERAL (SELECT coalesce(sum(net + tax), 0) AS credited FROM invoice_line
      WHERE invoice_id = invoice.id
        AND (credits_line_id IS NOT NULL OR amount < 0 AND trace #> '{corrects,taken}' IS NOT NULL)) own,
    LATERAL (SELECT coalesce(sum(floor((line.net + line.tax)::numeric * taken.amount / -line.amount)), 0) AS credited
      FROM (SELECT DISTINCT item_id, period_start_at, period_end_at FROM invoice_line
        WHERE invoice_id = invoice.id AND kind IN ('usage', 'minimum', 'maximum')) billed
        JOIN invoice_line line USING (item_id, period_start_at, period_end_at)
        JOIN invoice later ON later.id = line.invoice_id AND ${isInEffect('later')},
        LATERAL (SELECT one ->> 'invoiceId' AS id, (one #>> '{amountMinor,$bigint}')::bigint AS amount
          FROM jsonb_array_elements(line.trace #> '{corrects,taken}') AS one) taken
      WHERE line.kind = 'usage' AND line.amount < 0 AND taken.id = invoice.id) corrected,
    LATERAL (SELECT coalesce(sum(credit.net + credit.tax), 0) AS credited
      FROM invoice_line billed
        JOIN invoice_line credit ON credit.credits_line_id = billed.id
        JOIN invoice later ON later.id = credit.invoice_id AND ${isInEffect('later')}
      WHERE billed.invoice_id = invoice.id) later,
    LATERAL (SELECT coalesce(sum(total), 0) AS total, coalesce(sum(to_refund), 0) AS to_refund
      FROM credit_note WHERE invoice_id = invoice.id AND status = 'issued') note
  WHERE invoice.id = ANY ($1)`;

const CREDIT_LINES = `
  SELECT credit.id FROM invoice_line billed
    JOIN invoice_line credit ON credit.credits_line_id = billed.id
    JOIN invoice later ON later.id = credit.invoice_id AND ${isInEffect('later')}
  WHERE billed.invoice_id = $1`;

/** Reads how much of the charges of invoices is left after credit notes, and after credits on later invoices. */
@Injectable()
export class HeldByInvoiceRepository {
  constructor(private readonly database: Database) {}

  /** Returns, by invoice id, the amounts that limit further credits and refunds of the invoice. */
  async heldBy(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, HeldByInvoice>> {
    if (invoiceIds.length === 0) return new Map();
    const rows = await this.database.query<Record<'id' | 'held' | 'toRefund' | 'paid', string>>(
      HELD,
      [invoiceIds],
    );
    return new Map(
      rows.map(({ id, held, toRefund, paid }) => [
        id,
        { heldMinor: BigInt(held), toRefundMinor: BigInt(toRefund), paidMinor: BigInt(paid) },
      ]),
    );
  }

  async heldByInvoice(invoiceId: string): Promise<HeldByInvoice> {
    const held = (await this.heldBy([invoiceId])).get(invoiceId);
    invariant(held !== undefined, `The invoice ${invoiceId} exists.`);
    return held;
  }

  /** Returns the ids of credit lines on other non-void invoices that lower charges of this invoice. */
  creditLinesOf(invoiceId: string): Promise<readonly string[]> {
    return this.database.queryValues<string>(CREDIT_LINES, [invoiceId]);
  }
}
