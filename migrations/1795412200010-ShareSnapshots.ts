import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets several invoices of a customer refer to one stored snapshot of the seller or the buyer. Existing invoices keep
 * their own.
 */
export class ShareSnapshots1795412200010 implements MigrationInterface {
  readonly name = 'ShareSnapshots1795412200010';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SEQUENCE "invoice_snapshot_id"');
    await queryRunner.query(`
      CREATE TABLE "invoice_snapshot" (
        "customer_id" character varying(40) COLLATE "C" NOT NULL,
        "id" bigint NOT NULL,
        "snapshots" jsonb NOT NULL,
        CONSTRAINT "invoice_snapshot_pkey" PRIMARY KEY ("customer_id", "id"),
        CONSTRAINT "invoice_snapshot_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id")
      )
    `);
    await queryRunner.query('ALTER TABLE "invoice" ADD "snapshot_id" bigint');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE "invoice" SET "parties" = "shared"."snapshots"
      FROM "invoice_snapshot" AS "shared"
      WHERE "shared"."customer_id" = "invoice"."customer_id" AND "shared"."id" = "invoice"."snapshot_id"
    `);
    await queryRunner.query('ALTER TABLE "invoice" DROP "snapshot_id"');
    await queryRunner.query('DROP TABLE "invoice_snapshot"');
    await queryRunner.query('DROP SEQUENCE "invoice_snapshot_id"');
  }
}
