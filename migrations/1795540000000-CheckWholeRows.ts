import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Refuses rows that contradict themselves: an invoice whose status does not fit its amounts and times, a line whose net
 * amount does not follow from its amount, a credit note that gives back more than it credits, and a running
 * subscription without a period. The next migration checks the stored rows.
 */
export class CheckWholeRows1795540000000 implements MigrationInterface {
  /** Constraints by table, in the order in which transactions lock these tables. */
  static readonly constraints: readonly (readonly [
    string,
    readonly (readonly [string, string])[],
  ])[] = [
    [
      'subscription',
      [
        [
          'subscription_terms_check',
          `"quantity" >= 0 AND "interval_count" >= 1 AND "days_until_due" >= 0`,
        ],
        [
          'subscription_running_check',
          `"status" IN ('incomplete', 'canceled', 'incomplete_expired') OR ("current_period_start_at" IS NOT NULL AND "current_period_end_at" IS NOT NULL)`,
        ],
      ],
    ],
    ['subscription_item', [['subscription_item_quantity_check', `"quantity" >= 0`]]],
    [
      'invoice',
      [
        [
          'invoice_draft_check',
          `"status" <> 'draft' OR ("amount_paid" = 0 AND "amount_credited" = 0 AND "amount_pending" = 0)`,
        ],
        [
          'invoice_settled_check',
          `"status" NOT IN ('open', 'paid') OR ("status" = 'paid') = ("amount_due" = "amount_paid" + "amount_credited")`,
        ],
        [
          'invoice_finalized_check',
          `("status" = 'draft') = ("finalized_at" IS NULL) AND ("status" = 'draft') = ("due_at" IS NULL) AND "days_until_due" >= 0`,
        ],
        [
          'invoice_closed_check',
          `("status" <> 'paid' OR "paid_at" IS NOT NULL) AND ("status" <> 'void' OR "voided_at" IS NOT NULL) AND ("status" <> 'uncollectible' OR "uncollectible_at" IS NOT NULL)`,
        ],
        ['invoice_credits_check', `("credit_applied" = 0) = ("credits" = '[]')`],
      ],
    ],
    [
      'invoice_line',
      [
        [
          'invoice_line_net_check',
          `"amount" - "discount" IN ("net", "net" + "tax") OR jsonb_array_length("tax_shares") > 1`,
        ],
        [
          'invoice_line_credited_check',
          `"credited" >= 0 AND "credited_net" >= 0 AND "credited_net" <= greatest("net", 0)`,
        ],
      ],
    ],
    [
      'credit_note',
      [
        [
          'credit_note_parts_check',
          `"tax" >= 0 AND "to_receivable" >= 0 AND "to_credit" >= 0 AND "to_refund" >= 0 AND "deferred" >= 0 AND "deferred" <= "net"`,
        ],
        ['credit_note_lines_check', `"lines" <> '[]'`],
      ],
    ],
  ];

  readonly name = 'CheckWholeRows1795540000000';
  /** Each statement commits by itself: a transaction that locks several tables could deadlock with requests. */
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    for (const [table, checks] of CheckWholeRows1795540000000.constraints) {
      const added = checks.map(
        ([name, rule]) =>
          `DROP CONSTRAINT IF EXISTS "${name}", ADD CONSTRAINT "${name}" CHECK (${rule}) NOT VALID`,
      );
      await queryRunner.query(`ALTER TABLE "${table}" ${added.join(', ')}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    for (const [table, checks] of CheckWholeRows1795540000000.constraints) {
      const dropped = checks.map(([name]) => `DROP CONSTRAINT "${name}"`);
      await queryRunner.query(`ALTER TABLE "${table}" ${dropped.join(', ')}`);
    }
  }
}
