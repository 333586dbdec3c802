import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Refuses unknown values in columns that decide what is billed. The next migration checks the stored rows. */
export class CheckChosenTerms1795475000000 implements MigrationInterface {
  /** Constraints that allow only certain values in a column. Each has the table, the name, the column and the values. */
  static readonly constraints: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['subscription', 'subscription_collection_check', 'collection', ['automatic', 'send_invoice']],
    [
      'subscription',
      'subscription_billing_anchor_check',
      'billing_anchor',
      ['anniversary', 'calendar'],
    ],
    ['subscription', 'subscription_interval_check', 'interval', ['day', 'week', 'month', 'year']],
    ['subscription', 'subscription_proration_check', 'proration', ['day', 'second', 'none']],
    [
      'subscription_item',
      'subscription_item_proration_check',
      'proration',
      ['day', 'second', 'none'],
    ],
    [
      'subscription_item',
      'subscription_item_ended_by_check',
      'ended_by',
      ['pause', 'day_change', 'second_change'],
    ],
    ['invoice', 'invoice_collection_method_check', 'collection', ['automatic', 'send_invoice']],
    [
      'invoice',
      'invoice_reason_check',
      'reason',
      ['one_off', 'subscription_start', 'renewal', 'change', 'end', 'late_usage'],
    ],
    ['invoice', 'invoice_tax_treatment_check', 'tax_treatment', ['none', 'exempt', 'reverse']],
    ['invoice_line', 'invoice_line_proration_unit_check', 'proration_unit', ['day', 'second']],
    [
      'customer_entitlement',
      'customer_entitlement_reset_check',
      'reset',
      ['period', 'day', 'week', 'month', 'year', 'never'],
    ],
  ];

  readonly name = 'CheckChosenTerms1795475000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, constraint, column, values] of CheckChosenTerms1795475000000.constraints) {
      const list = values.map((value) => `'${value}'`).join(', ');
      await queryRunner.query(
        `ALTER TABLE "${table}" ADD CONSTRAINT "${constraint}" CHECK ("${column}" IN (${list})) NOT VALID`,
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table, constraint] of CheckChosenTerms1795475000000.constraints) {
      await queryRunner.query(`ALTER TABLE "${table}" DROP CONSTRAINT "${constraint}"`);
    }
  }
}
