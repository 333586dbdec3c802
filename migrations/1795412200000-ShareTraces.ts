import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets several invoice lines refer to one stored trace. Existing lines keep their own whole traces. */
export class ShareTraces1795412200000 implements MigrationInterface {
  readonly name = 'ShareTraces1795412200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SEQUENCE "shared_trace_id"');
    await queryRunner.query(`
      CREATE TABLE "shared_trace" (
        "id" bigint NOT NULL,
        "trace" jsonb NOT NULL,
        CONSTRAINT "shared_trace_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "shared_trace_hash_index" ON "shared_trace" (jsonb_hash_extended("trace", 0))',
    );
    await queryRunner.query('ALTER TABLE "invoice_line" ADD "shared_trace_id" bigint');
    await queryRunner.query('ALTER TABLE "invoice_line" ALTER "trace" DROP NOT NULL');
    await queryRunner.query(`
      ALTER TABLE "invoice_line" ADD CONSTRAINT "invoice_line_trace_check"
        CHECK ("trace" IS NOT NULL OR "shared_trace_id" IS NOT NULL) NOT VALID
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "invoice_line" DROP CONSTRAINT "invoice_line_trace_check"',
    );
    await queryRunner.query(`
      UPDATE "invoice_line"
      SET "trace" = "shared"."trace" || '{"proration": null}' || coalesce("invoice_line"."trace", '{}')
      FROM "shared_trace" AS "shared" WHERE "shared"."id" = "shared_trace_id"
    `);
    await queryRunner.query('ALTER TABLE "invoice_line" ALTER "trace" SET NOT NULL');
    await queryRunner.query('ALTER TABLE "invoice_line" DROP "shared_trace_id"');
    await queryRunner.query('DROP TABLE "shared_trace"');
    await queryRunner.query('DROP SEQUENCE "shared_trace_id"');
  }
}
