import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks, postedRows, postedRowsBySource } from '../ledger';
import {
  CREDITED_BEYOND_THEIR_LINES,
  CREDITED_ROWS,
  CREDITING_ROWS,
  CREDIT_OF_INVOICES_ROWS,
  DEFERRED_NOTE_ROWS,
  DEFERRED_ROWS,
  DISCOUNT_ROWS,
  INVOICE_AMOUNT_ROWS,
  LINE_AMOUNT_ROWS,
  RECEIVABLE_ROWS,
  REVENUE_ROWS,
  TAX_ROWS,
  USED_CREDIT_ROWS,
  WRITTEN_OFF_ROWS,
} from './summed-rows';

/**
 * Finds number series with gaps. The last number that a series gave out is `next_number - 1`. Numbers are unique, so a
 * series has no gaps if this last number equals both the count and the greatest of the stored numbers. Leaves out
 * customers on test clocks, because their numbers are deleted with them.
 */
const NUMBERS_WITH_GAPS = `
  SELECT series || ': last ' || last || ', stored ' || count(number) || ', greatest ' || coalesce(max(number), 0)
  FROM (
    SELECT series, coalesce(next_number - 1, 0) AS last
    FROM (VALUES ('INV'), ('CN')) AS gapless (series) LEFT JOIN invoice_series ON name = series
  ) AS taken LEFT JOIN (
    SELECT 'INV' AS series, substr(number, 5)::bigint AS number FROM invoice WHERE number ~ '^INV-[0-9]{1,18}$'
    UNION ALL
    SELECT 'CN', substr(number, 4)::bigint FROM credit_note WHERE number ~ '^CN-[0-9]{1,18}$'
  ) AS stored USING (series)
  GROUP BY series, last HAVING count(number) <> last OR coalesce(max(number), 0) <> last
  ORDER BY 1 LIMIT $1`;

const COUPONS_WITH_OTHER_REDEMPTIONS = `
  SELECT coupon.id || ': times_redeemed ' || times_redeemed || ', redemptions ' || count(redemption.id)
  FROM coupon LEFT JOIN coupon_redemption AS redemption ON coupon_id = coupon.id
  GROUP BY coupon.id HAVING times_redeemed <> count(redemption.id)
  ORDER BY 1 LIMIT $1`;

/** Registers checks that compare invoices and credit notes with the postings in the ledger, and with each other. */
@Injectable()
export class InvoiceLedgerCheck implements OnModuleInit {
  constructor(private readonly checks: LedgerChecks) {}

  onModuleInit(): void {
    this.checks.registerSums({
      name: 'receivables_equal_open_invoices',
      left: { name: 'stored', sql: [RECEIVABLE_ROWS] },
      right: { name: 'ledger', sql: [postedRows('accounts_receivable')] },
    });
    this.checks.registerSums({
      name: 'write_offs_equal_uncollectible_invoices',
      left: { name: 'stored', sql: [WRITTEN_OFF_ROWS] },
      right: { name: 'ledger', sql: [postedRows('bad_debt')] },
    });
    this.checks.registerSums({
      name: 'invoices_equal_their_lines',
      left: { name: 'invoices', sql: [INVOICE_AMOUNT_ROWS] },
      right: { name: 'lines', sql: [LINE_AMOUNT_ROWS] },
    });
    this.checks.registerSums({
      name: 'credited_lines_equal_their_credits',
      left: { name: 'lines', sql: [CREDITED_ROWS] },
      right: { name: 'credits', sql: CREDITING_ROWS },
    });
    this.checks.registerSums({
      name: 'discounts_equal_invoices',
      left: { name: 'stored', sql: [DISCOUNT_ROWS] },
      right: { name: 'ledger', sql: [postedRowsBySource('discounts')] },
    });
    this.checks.registerSums({
      name: 'taxes_equal_invoices_less_credit_notes',
      left: { name: 'stored', sql: TAX_ROWS },
      right: { name: 'ledger', sql: [postedRowsBySource('tax_payable', -1)] },
    });
    this.checks.registerSums({
      name: 'revenue_equals_invoices_less_credit_notes',
      left: { name: 'stored', sql: REVENUE_ROWS },
      right: {
        name: 'ledger',
        sql: [postedRowsBySource('revenue', -1), postedRowsBySource('deferred_revenue', -1)],
      },
    });
    this.checks.registerSums({
      name: 'deferred_revenue_equals_lines_not_released',
      left: { name: 'stored', sql: [DEFERRED_ROWS] },
      right: { name: 'ledger', sql: [postedRows('deferred_revenue', -1)] },
    });
    this.checks.registerSums({
      name: 'deferred_parts_of_credit_notes_equal_postings',
      left: { name: 'credit notes', sql: [DEFERRED_NOTE_ROWS] },
      right: { name: 'ledger', sql: [postedRowsBySource('deferred_revenue', 1, 'credit_note')] },
    });
    this.checks.registerSums({
      name: 'used_credit_of_payments_equals_invoices',
      left: { name: 'credits', sql: [USED_CREDIT_ROWS] },
      right: { name: 'invoices', sql: CREDIT_OF_INVOICES_ROWS },
    });
    this.checks.registerQuery({
      name: 'credit_notes_stay_within_their_lines',
      sql: CREDITED_BEYOND_THEIR_LINES,
    });
    this.checks.registerQuery({ name: 'numbers_have_no_gap', sql: NUMBERS_WITH_GAPS });
    this.checks.registerQuery({
      name: 'redemptions_equal_coupons',
      sql: COUPONS_WITH_OTHER_REDEMPTIONS,
    });
  }
}
