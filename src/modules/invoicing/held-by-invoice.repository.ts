import { Injectable } from '@nestjs/common';
import { fromJson } from '../../core/exact-json';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { takenFrom, type UsageStep } from './domain/corrected-parts';
import type { HeldByInvoice } from './domain/given-back';
import { isInEffect } from './invoice-query';

const CORRECTS = `line.amount < 0 AND line.trace #> '{corrects,taken}' IS NOT NULL`;

/**
 * Lists the changes of what invoices billed for the usage of one item and period, for {@link takenFrom}: first the
 * billed amounts, then credit notes and usage corrections in the order of their creation. Lists nothing if the usage
 * was never corrected. Sorts by id, because ids follow the real time of creation.
 */
const STEPS = `
  WITH line AS MATERIALIZED (
    SELECT line.id, line.invoice_id, line.net + line.tax AS gross,
      CASE WHEN ${CORRECTS} THEN line.trace -> 'corrects' END AS corrects
    FROM invoice_line line JOIN invoice billed_on ON billed_on.id = line.invoice_id AND ${isInEffect('billed_on')}
    WHERE line.item_id = usage.item_id AND line.period_start_at = usage.period_start_at
      AND line.period_end_at = usage.period_end_at AND line.kind IN ('usage', 'minimum', 'maximum'))
  SELECT jsonb_agg(jsonb_build_object('invoiceId', invoice_id,
      'grossMinor', jsonb_build_object('$bigint', gross::text), 'corrects', corrects) ORDER BY made COLLATE "C") AS steps
  FROM (
    SELECT '' AS made, invoice_id, sum(gross) AS gross, NULL::jsonb AS corrects
    FROM line WHERE corrects IS NULL GROUP BY invoice_id
    UNION ALL
    SELECT split_part(note.id, '_', 2), line.invoice_id,
      -(part #>> '{netMinor,$bigint}')::bigint - (part #>> '{taxMinor,$bigint}')::bigint, NULL
    FROM line JOIN credit_note note ON note.invoice_id = line.invoice_id AND note.status = 'issued'
      CROSS JOIN jsonb_array_elements(note.lines) AS part
    WHERE part ->> 'lineId' = line.id
    UNION ALL
    SELECT split_part(id, '_', 2), invoice_id, gross, corrects FROM line WHERE corrects IS NOT NULL) AS step
  WHERE EXISTS (SELECT FROM line WHERE corrects IS NOT NULL)
  HAVING count(*) > 0`;

/**
 * Calculates how much of the charges of invoices is left, with tax. A negative line (a credit or usage correction)
 * takes back charges of earlier invoices, not of the invoice that contains it.
 * - `own`: negative lines of the invoice itself. They do not lower its charges.
 * - `later`: credit lines of later invoices that lower the charges.
 * - `corrected`: usage corrections that lower the charges. Their traces list the corrected invoices in `taken`, each
 *   with its part before exclusive tax. {@link takenFrom} divides the tax.
 */
const HELD = `
  SELECT invoice.id, (invoice.total - own.credited + later.credited - note.total)::text AS held,
    corrected.steps AS corrected, note.to_refund::text AS "toRefund", invoice.amount_paid::text AS paid
  FROM invoice,
    LATERAL (SELECT coalesce(sum(net + tax), 0) AS credited FROM invoice_line line
      WHERE invoice_id = invoice.id AND (credits_line_id IS NOT NULL OR ${CORRECTS})) own,
    LATERAL (SELECT jsonb_agg(of_usage.steps) AS steps
      FROM (SELECT DISTINCT item_id, period_start_at, period_end_at FROM invoice_line
        WHERE invoice_id = invoice.id AND kind IN ('usage', 'minimum', 'maximum')) usage,
        LATERAL (${STEPS}) of_usage) corrected,
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

interface HeldRow extends Record<'id' | 'held' | 'toRefund' | 'paid', string> {
  /** JSON: for each item and period whose usage was corrected, a list of {@link UsageStep}. Null if there is none. */
  readonly corrected: unknown;
}

/** Reads how much of the charges of invoices is left after credit notes, and after credits on later invoices. */
@Injectable()
export class HeldByInvoiceRepository {
  constructor(private readonly database: Database) {}

  /** Returns, by invoice id, the amounts that limit further credits and refunds of the invoice. */
  async heldBy(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, HeldByInvoice>> {
    if (invoiceIds.length === 0) return new Map();
    const rows = await this.database.query<HeldRow>(HELD, [invoiceIds]);
    return new Map(
      rows.map(({ id, held, corrected, toRefund, paid }) => {
        const usages = fromJson(corrected ?? []) as readonly (readonly UsageStep[])[];
        const heldMinor = usages.reduce(
          (leftMinor, steps) => leftMinor - takenFrom(id, steps),
          BigInt(held),
        );
        return [id, { heldMinor, toRefundMinor: BigInt(toRefund), paidMinor: BigInt(paid) }];
      }),
    );
  }

  async heldByInvoice(invoiceId: string): Promise<HeldByInvoice> {
    const held = (await this.heldBy([invoiceId])).get(invoiceId);
    invariant(held !== undefined, `The invoice ${invoiceId} exists.`);
    return held;
  }

  /** Returns the ids of credit lines on other finalized, non-void invoices that lower charges of this invoice. */
  creditLinesOf(invoiceId: string): Promise<readonly string[]> {
    return this.database.queryValues<string>(CREDIT_LINES, [invoiceId]);
  }
}
