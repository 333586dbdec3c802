import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  customer_name_index: '"customer" (lower("name"), "id") WHERE "deleted_at" IS NULL',
  invoice_owed_index: `"invoice" ("customer_id")
    WHERE "status" = 'open' AND "amount_due" > "amount_paid" + "amount_credited"`,
};

/** Indexes the unpaid invoices of customers, for the list of customers who owe, and customers by name, for its order. */
export class IndexCustomersWhoOwe1795411900002 implements MigrationInterface {
  readonly name = 'IndexCustomersWhoOwe1795411900002';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, columns] of Object.entries(INDEXES)) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await queryRunner.query(`CREATE INDEX CONCURRENTLY "${name}" ON ${columns}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await queryRunner.query(`DROP INDEX "${name}"`);
  }
}
