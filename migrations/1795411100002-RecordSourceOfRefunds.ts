import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Records whether a refund was made at the provider, and to which credit note it belongs. */
export class RecordSourceOfRefunds1795411100002 implements MigrationInterface {
  readonly name = 'RecordSourceOfRefunds1795411100002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "refund"
        ADD "source" character varying(20) NOT NULL DEFAULT 'api',
        ADD "credit_note_id" character varying(40) COLLATE "C",
        ADD CONSTRAINT "refund_source_check" CHECK ("source" IN ('api', 'provider')) NOT VALID,
        ADD CONSTRAINT "refund_source_reference_check" CHECK ("source" = 'api' OR "provider_reference" IS NOT NULL) NOT VALID,
        ADD CONSTRAINT "refund_credit_note_id_fkey" FOREIGN KEY ("credit_note_id") REFERENCES "credit_note" ("id") NOT VALID
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "refund"
        DROP CONSTRAINT "refund_credit_note_id_fkey",
        DROP CONSTRAINT "refund_source_reference_check",
        DROP CONSTRAINT "refund_source_check",
        DROP "credit_note_id",
        DROP "source"
    `);
  }
}
