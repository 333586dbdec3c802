import { Injectable } from '@nestjs/common';
import { fromJson } from '../../core/exact-json';
import type { Period } from '../../core/time';
import { Database } from '../../platform/database';
import type { OnceDiscounts } from '../coupons';
import type { EarlierBill } from './domain/decide-usage-lines';
import { usagePeriodKey } from './domain/first-bill';
import { type BilledLine, billedUsageOf } from './domain/held-lines';
import type { InvoiceLine, InvoiceTaxRate } from './domain/invoice';
import type { CreditLineRequest, UsageLineRequest } from './domain/line-item-request';
import { isInEffect } from './invoice-query';
import { InvoicesRepository } from './invoices.repository';

const BILLED_IN_ADVANCE = `
  FROM unnest($1::text[], $2::timestamptz[]) AS credited (item_id, beyond)
    JOIN invoice_line line ON line.item_id = credited.item_id AND line.period_end_at > credited.beyond
    JOIN invoice ON invoice.id = line.invoice_id
  WHERE line.is_in_advance AND line.kind <> 'credit' AND ${isInEffect('invoice')}`;

/**
 * Finds the lines that can be credited. Omits charges that another credit line already names. Keeps true-ups (separate
 * lines that raise a charge to its minimum, or lower it to its maximum): credit lines never name a true-up, even if
 * they credit it. Sorts by id, so that two transactions that lock the same lines do not deadlock.
 */
const CREDITABLE = `
  SELECT line.id ${BILLED_IN_ADVANCE}
    AND NOT EXISTS (SELECT FROM invoice_line credit JOIN invoice AS by ON by.id = credit.invoice_id
      WHERE credit.credits_line_id = line.id AND by.status <> 'void')
  ORDER BY line.id`;

const USAGE_LINES = `
  FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS billed (item_id, start_at, end_at)
    JOIN invoice_line line ON line.item_id = billed.item_id AND line.period_start_at = billed.start_at
      AND line.period_end_at = billed.end_at
    JOIN invoice ON invoice.id = line.invoice_id
  WHERE line.kind IN ('usage', 'minimum', 'maximum')`;

const BILLED_USAGE = `${USAGE_LINES} AND ${isInEffect('invoice')}`;

/**
 * Finds the finalized, non-void invoice that first billed the usage. If only void invoices billed it, finds the newest
 * of them, because its discounts and taxes apply when the usage is billed again.
 */
const FIRST_INVOICES = `
  SELECT DISTINCT ON (line.item_id, line.period_start_at, line.period_end_at)
    line.invoice_id AS "invoiceId", line.item_id AS "itemId", line.period_start_at AS "startAt",
    line.period_end_at AS "endAt" ${USAGE_LINES}
    AND invoice.status <> 'draft' AND (line.kind <> 'usage' OR line.trace -> 'corrects' = 'null')
  ORDER BY line.item_id, line.period_start_at, line.period_end_at, invoice.status = 'void', invoice.id DESC`;

const LATEST_REGENERATED = `
  WITH RECURSIVE made AS (
    SELECT id AS first_id, id FROM invoice WHERE id = ANY ($1)
    UNION ALL SELECT made.first_id, invoice.id FROM made JOIN invoice ON invoice.reissue_of_id = made.id)
  SELECT DISTINCT ON (first_id) first_id AS "firstId", id FROM made ORDER BY first_id, id DESC`;

const OF_INVOICES = `
  SELECT id, period_start_at AS "billedFrom", tax_rates AS "taxRates" FROM invoice WHERE id = ANY ($1)`;

/**
 * Sums discounts by coupon redemption and billing period. A usage correction is on a later invoice, but its discount
 * counts in the period of the corrected bill.
 */
const TAKEN = `
  SELECT coupon ->> 'redemptionId' AS "redemptionId", period.start_at AS "periodStartAt",
    sum((coupon #>> '{amountMinor,$bigint}')::bigint
      - coalesce((coupon #>> '{returnedMinor,$bigint}')::bigint, 0))::text AS taken,
    bool_or((coupon #>> '{amountMinor,$bigint}')::bigint > 0) AS "isDiscounted",
    bool_or(coupon ? 'begins') AS "isFirstUsedByCorrection"
  FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS period (subscription_id, start_at, end_at)
    JOIN invoice USING (subscription_id) CROSS JOIN jsonb_array_elements(invoice.coupons) AS coupon,
    LATERAL (SELECT CASE WHEN coupon ? 'correctedFrom'
      THEN (coupon #>> '{correctedFrom,$instant}')::timestamptz ELSE invoice.period_start_at END AS from_at) applied
  WHERE ${isInEffect('invoice')}
    AND greatest(invoice.period_start_at, invoice.finalized_at) >= period.start_at
    AND (applied.from_at = period.start_at OR applied.from_at > period.start_at AND applied.from_at < period.end_at)
  GROUP BY 1, 2`;

const DISCOUNTED = `
  SELECT coupon ->> 'redemptionId' AS "redemptionId",
    min(coalesce((coupon #>> '{appliedFrom,$instant}')::timestamptz, invoice.period_start_at)) AS "firstAt",
    max(coalesce((coupon #>> '{appliedFrom,$instant}')::timestamptz, invoice.period_start_at)) AS "lastAt"
  FROM invoice CROSS JOIN jsonb_array_elements(invoice.coupons) AS coupon
  WHERE invoice.subscription_id = ANY ($1) AND invoice.id IS DISTINCT FROM $2
    AND ${isInEffect('invoice')}
    AND coupon ->> 'duration' = 'repeating' AND (coupon ? 'appliedFrom' OR NOT coupon ? 'correctedFrom')
    AND (coupon #>> '{amountMinor,$bigint}')::bigint > 0
  GROUP BY 1`;

/**
 * Sums the discounts of each coupon, less the discounts returned to it. Reads returned discounts from the invoice
 * lines, because the column `coupons` omits those that cannot be used again. `is_used` is true if the coupon discounted
 * the charges of an invoice, or was first used by a usage correction. A discount limited by `mostMinor` does not count,
 * because it only used returned discounts again.
 */
const DISCOUNTS_IN_EFFECT = `
  SELECT redemption_id AS "redemptionId", sum(applied)::text AS applied, bool_or(is_used) AS "isUsed"
  FROM invoice CROSS JOIN LATERAL (
    SELECT coupon ->> 'redemptionId', (coupon #>> '{amountMinor,$bigint}')::bigint,
      (coupon #>> '{amountMinor,$bigint}')::bigint > 0 AND (coupon ? 'begins'
        OR NOT coupon ? 'correctedFrom' AND coupon #>> '{mostMinor,$bigint}' IS NULL)
    FROM jsonb_array_elements(invoice.coupons) AS coupon
    UNION ALL
    SELECT returned ->> 'redemptionId', -(returned #>> '{amountMinor,$bigint}')::bigint, false
    FROM invoice_line line CROSS JOIN jsonb_array_elements(
      coalesce(line.trace -> 'returned', line.trace #> '{corrects,returned}')) AS returned
    WHERE line.invoice_id = invoice.id) AS discount (redemption_id, applied, is_used)
  WHERE invoice.subscription_id = $1 AND invoice.id <> $2 AND ${isInEffect('invoice')}
  GROUP BY 1`;

/** Starts of the first and of the last billing period that a coupon discounted. */
export interface DiscountedSpan {
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export interface TakenDiscount {
  readonly redemptionId: string;
  readonly periodStartAt: Date;
  readonly takenMinor: bigint;
  /** True if the coupon discounted the period, even if credits later returned that discount to the coupon. */
  readonly isDiscounted: boolean;
  /** True if the coupon was first used in the period by a usage correction, not by the bill that was corrected. */
  readonly isFirstUsedByCorrection: boolean;
}

/** Reads lines and discounts of earlier invoices, which later invoices credit or correct. */
@Injectable()
export class BilledLinesRepository {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
  ) {}

  /**
   * Returns the lines of finalized, non-void invoices that billed these items in advance for periods ending after
   * `unusedFrom`. Includes true-ups to a minimum or maximum. Omits charges whose unused part was already credited.
   * @param lock true: locks the lines until the transaction ends
   */
  async inAdvance(
    credited: readonly CreditedItem[],
    lock: boolean,
  ): Promise<readonly BilledLine[]> {
    if (credited.length === 0) return [];
    const sql = lock ? `${CREDITABLE} FOR UPDATE OF line` : CREDITABLE;
    const ids = await this.database.queryValues<string>(sql, parametersOfCredits(credited));
    return this.withInvoices(await this.invoices.findLines(ids));
  }

  /**
   * Returns the ids of finalized, non-void invoices that billed these items in advance for a period ending after
   * `unusedFrom`.
   */
  async invoicesInAdvance(credited: readonly CreditedItem[]): Promise<readonly string[]> {
    if (credited.length === 0) return [];
    const sql = `SELECT DISTINCT line.invoice_id AS id ${BILLED_IN_ADVANCE}`;
    return this.database.queryValues<string>(sql, parametersOfCredits(credited));
  }

  /** Returns the ids of finalized, non-void invoices that billed usage of these items in these periods. */
  async invoicesOfUsage(usage: readonly BilledItem[]): Promise<readonly string[]> {
    if (usage.length === 0) return [];
    const sql = `SELECT DISTINCT line.invoice_id AS id ${BILLED_USAGE}`;
    return this.database.queryValues<string>(sql, parametersOf(usage));
  }

  /**
   * Returns the amounts and lines that finalized, non-void invoices billed for the usage of an item in a period.
   * Includes corrections, and true-ups to a minimum or maximum.
   */
  async usage(usage: BilledItem): Promise<EarlierBill> {
    const lines = await this.withInvoices(await this.history([usage]));
    return { ...billedUsageOf(lines), lines };
  }

  /**
   * Returns the id of the invoice that first billed the usage, by {@link usagePeriodKey}. Names a void invoice only if
   * no other invoice billed the usage. Usage that no line billed is absent.
   */
  async firstInvoices(usage: readonly BilledItem[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<
      Period & { readonly invoiceId: string; readonly itemId: string }
    >(FIRST_INVOICES, parametersOf(usage));
    return new Map(
      rows.map(({ invoiceId, itemId, ...period }) => [
        usagePeriodKey({ itemId, period }),
        invoiceId,
      ]),
    );
  }

  /**
   * Returns, by given id, the id of the newest invoice that was regenerated from this invoice, directly or through
   * other regenerated invoices. If the invoice was not regenerated, returns the given id itself.
   */
  async latestOf(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (invoiceIds.length === 0) return new Map();
    const rows = await this.database.query<{ firstId: string; id: string }>(LATEST_REGENERATED, [
      invoiceIds,
    ]);
    return new Map(rows.map(({ firstId, id }) => [firstId, id]));
  }

  /**
   * Returns the lines of finalized, non-void invoices for usage of these items and periods, oldest first. Includes late
   * usage and true-ups.
   */
  async history(usage: readonly BilledItem[]): Promise<readonly InvoiceLine[]> {
    const sql = `SELECT line.id ${BILLED_USAGE}`;
    const ids = await this.database.queryValues<string>(sql, parametersOf(usage));
    return this.invoices.findLines(ids);
  }

  /**
   * Returns the discounts that each coupon redemption gave in these billing periods on finalized, non-void invoices.
   * Discounts that credits and usage corrections returned to the coupon are subtracted.
   */
  async discountsTaken(
    periods: readonly { readonly subscriptionId: string; readonly period: Period }[],
  ): Promise<readonly TakenDiscount[]> {
    if (periods.length === 0) return [];
    const rows = await this.database.query<
      Omit<TakenDiscount, 'takenMinor'> & { readonly taken: string }
    >(TAKEN, [
      periods.map(({ subscriptionId }) => subscriptionId),
      periods.map(({ period }) => period.startAt),
      periods.map(({ period }) => period.endAt),
    ]);
    return rows.map(({ taken, ...row }) => ({ ...row, takenMinor: BigInt(taken) }));
  }

  /**
   * Returns, by redemption id, the discounts on the finalized, non-void invoices of a subscription. Discounts that
   * credits and usage corrections returned to the coupon are subtracted.
   * @param exceptId invoice to ignore
   */
  async discountsInEffect(
    subscriptionId: string,
    exceptId: string,
  ): Promise<ReadonlyMap<string, OnceDiscounts>> {
    const rows = await this.database.query<{
      redemptionId: string;
      applied: string;
      isUsed: boolean;
    }>(DISCOUNTS_IN_EFFECT, [subscriptionId, exceptId]);
    return new Map(
      rows.map(({ redemptionId, applied, isUsed }) => [
        redemptionId,
        { appliedMinor: BigInt(applied), isUsed },
      ]),
    );
  }

  /**
   * Returns, by redemption id, the first and the last billing period that a repeating coupon discounted. Counts only
   * finalized, non-void invoices, without the invoice `exceptId`.
   */
  async discountedSpans(
    subscriptionIds: readonly string[],
    exceptId: string | null,
  ): Promise<ReadonlyMap<string, DiscountedSpan>> {
    const rows = await this.database.query<{
      redemptionId: string;
      firstAt: Date | null;
      lastAt: Date | null;
    }>(DISCOUNTED, [subscriptionIds, exceptId]);
    return new Map(
      rows.flatMap(({ redemptionId, firstAt, lastAt }) =>
        firstAt === null || lastAt === null ? [] : [[redemptionId, { firstAt, lastAt }] as const],
      ),
    );
  }

  private async withInvoices(lines: readonly InvoiceLine[]): Promise<readonly BilledLine[]> {
    if (lines.length === 0) return [];
    const rows = await this.database.query<{
      id: string;
      billedFrom: Date | null;
      taxRates: unknown;
    }>(OF_INVOICES, [[...new Set(lines.map(({ invoiceId }) => invoiceId))]]);
    const invoices = new Map(
      rows.map(({ id, billedFrom, taxRates }) => [
        id,
        { billedFrom, taxRates: fromJson(taxRates) as readonly InvoiceTaxRate[] },
      ]),
    );
    return lines.flatMap((line) => {
      const invoice = invoices.get(line.invoiceId);
      return invoice === undefined ? [] : [{ ...line, ...invoice }];
    });
  }
}

type BilledItem = Pick<UsageLineRequest, 'itemId' | 'period'>;

type CreditedItem = Pick<CreditLineRequest, 'itemId' | 'unusedFrom'>;

function parametersOfCredits(credited: readonly CreditedItem[]): readonly unknown[] {
  return [credited.map(({ itemId }) => itemId), credited.map(({ unusedFrom }) => unusedFrom)];
}

function parametersOf(usage: readonly BilledItem[]): readonly unknown[] {
  return [
    usage.map(({ itemId }) => itemId),
    usage.map(({ period }) => period.startAt),
    usage.map(({ period }) => period.endAt),
  ];
}
