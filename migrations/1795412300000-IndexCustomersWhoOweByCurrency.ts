import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets a list of the customers who owe in a currency skip customers who owe only in another currency. */
export class IndexCustomersWhoOweByCurrency1795412300000 implements MigrationInterface {
  readonly name = 'IndexCustomersWhoOweByCurrency1795412300000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "invoice_currency_owed_index"');
    await queryRunner.query(`
      CREATE INDEX CONCURRENTLY "invoice_currency_owed_index" ON "invoice" ("currency", "customer_id")
      WHERE "status" = 'open' AND "amount_due" > "amount_paid" + "amount_credited"
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "invoice_currency_owed_index"');
  }
}
