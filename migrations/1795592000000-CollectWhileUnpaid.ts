import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks invoices that are charged once although their subscription is unpaid. */
export class CollectWhileUnpaid1795592000000 implements MigrationInterface {
  readonly name = 'CollectWhileUnpaid1795592000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "invoice" ADD COLUMN "is_collected_while_unpaid" boolean NOT NULL DEFAULT false`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "invoice" DROP COLUMN "is_collected_while_unpaid"');
  }
}
