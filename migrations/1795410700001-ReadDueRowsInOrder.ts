import type { MigrationInterface, QueryRunner } from 'typeorm';

const UNPAID =
  `"status" = 'open' AND "overdue_at" IS NULL AND "amount_pending" = 0 ` +
  `AND ("collect_at" IS NULL OR "attempt_count" > 0)`;
const CHARGEABLE = `"status" = 'open' AND "amount_pending" < "amount_due" - "amount_paid" - "amount_credited"`;

/** A queue: its table, the column with the due time, and the new and the former condition of its indexes. */
interface Queue {
  readonly table: string;
  readonly due: string;
  readonly name: string;
  readonly condition: string;
  readonly former: string | null;
}

const planned = (table: string, due: string, name: string): Queue => {
  const condition = `"${due}" IS NOT NULL`;
  return { table, due, name, condition, former: condition };
};

const ofInvoices = (due: string, name: string, condition: string, former: string | null): Queue => {
  return { table: 'invoice', due, name, condition, former };
};

const COLLECT = '"collect_at" IS NOT NULL';

const QUEUES: readonly Queue[] = [
  planned('subscription', 'next_billing_at', 'due'),
  planned('customer_entitlement', 'due_at', 'due'),
  planned('invoice', 'finalizes_at', 'finalizes'),
  ofInvoices('collect_at', 'collect', `${COLLECT} AND ${CHARGEABLE}`, COLLECT),
  ofInvoices('collect_at', 'closed_collect', `${COLLECT} AND "status" <> 'open'`, null),
  ofInvoices('due_at', 'overdue', UNPAID, `"status" = 'open' AND "overdue_at" IS NULL`),
];

/**
 * Adds the id to the indexes of due work, so that a claim reads its rows in order instead of sorting all due rows.
 * Leaves out rows that cannot be claimed. Builds the indexes without blocking writers. If the migration is interrupted,
 * it can be run again.
 */
export class ReadDueRowsInOrder1795410700001 implements MigrationInterface {
  readonly name = 'ReadDueRowsInOrder1795410700001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const { table, due, name, condition } of QUEUES) {
      await replace(
        queryRunner,
        `${table}_${name}_index`,
        `"${table}" ("${due}", "id") WHERE ${condition} AND "test_clock_id" IS NULL`,
      );
      await replace(
        queryRunner,
        `${table}_test_clock_${name}_index`,
        `"${table}" ("test_clock_id", "${due}", "id") WHERE ${condition} AND "test_clock_id" IS NOT NULL`,
      );
    }
    await replace(
      queryRunner,
      'usage_closed_subscription_test_clock_due_index',
      '"usage_closed_subscription" ("test_clock_id", "late_due_at", "id") WHERE "late_due_at" IS NOT NULL AND "test_clock_id" IS NOT NULL',
    );
    await replace(
      queryRunner,
      'usage_closed_subscription_due_index',
      '"usage_closed_subscription" ("late_due_at", "id") WHERE "late_due_at" IS NOT NULL AND "test_clock_id" IS NULL',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "usage_closed_subscription_test_clock_due_index"');
    await queryRunner.query('DROP INDEX "usage_closed_subscription_due_index"');
    await queryRunner.query(
      `CREATE INDEX "usage_closed_subscription_due_index" ON "usage_closed_subscription" ("test_clock_id", "late_due_at")
       WHERE "late_due_at" IS NOT NULL`,
    );
    for (const { table, due, name, former } of QUEUES) {
      await queryRunner.query(`DROP INDEX "${table}_${name}_index"`);
      await queryRunner.query(`DROP INDEX "${table}_test_clock_${name}_index"`);
      if (former === null) continue;
      await queryRunner.query(
        `CREATE INDEX "${table}_${name}_index" ON "${table}" ("${due}")
         WHERE ${former} AND "test_clock_id" IS NULL`,
      );
      await queryRunner.query(
        `CREATE INDEX "${table}_test_clock_${name}_index" ON "${table}" ("test_clock_id", "${due}")
         WHERE ${former} AND "test_clock_id" IS NOT NULL`,
      );
    }
  }
}

/**
 * Builds an index without blocking writers. Then drops the former index with the name, and gives the name to the new
 * one.
 */
async function replace(queryRunner: QueryRunner, name: string, definition: string): Promise<void> {
  await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}_new"`);
  await queryRunner.query(`CREATE INDEX CONCURRENTLY "${name}_new" ON ${definition}`);
  await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
  await queryRunner.query(`ALTER INDEX "${name}_new" RENAME TO "${name}"`);
}
