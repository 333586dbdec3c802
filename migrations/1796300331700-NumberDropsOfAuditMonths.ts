import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Numbers the drops of months of the audit log, so that a month can be dropped again, and the last drop is known. The
 * table has one row for each month. The previous release ignores the column.
 */
export class NumberDropsOfAuditMonths1796300331700 implements MigrationInterface {
  readonly name = 'NumberDropsOfAuditMonths1796300331700';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET LOCAL lock_timeout = 1000');
    await queryRunner.query('ALTER TABLE "audit_drop" ADD COLUMN "number" bigint');
    await queryRunner.query('ALTER TABLE "audit_drop" DISABLE TRIGGER "audit_drop_append_only"');
    await queryRunner.query(`
      WITH numbered AS (
        SELECT "month", row_number() OVER (ORDER BY "through_position", "dropped_at", "month") AS "number"
        FROM "audit_drop" LIMIT 10000)
      UPDATE "audit_drop" SET "number" = numbered."number" FROM numbered
      WHERE numbered."month" = "audit_drop"."month"
    `);
    await queryRunner.query('ALTER TABLE "audit_drop" ENABLE TRIGGER "audit_drop_append_only"');
    await queryRunner.query(`
      -- The table has one row for each month.
      -- squawk-ignore adding-not-nullable-field
      ALTER TABLE "audit_drop" ALTER COLUMN "number" SET NOT NULL
    `);
    await queryRunner.query(
      'ALTER TABLE "audit_drop" ALTER COLUMN "number" ADD GENERATED ALWAYS AS IDENTITY',
    );
    await queryRunner.query(`
      SELECT setval(pg_get_serial_sequence('audit_drop', 'number'), (SELECT count(*) + 1 FROM "audit_drop"), false)
    `);
    await queryRunner.query('ALTER TABLE "audit_drop" DROP CONSTRAINT "audit_drop_pkey"');
    await queryRunner.query(`
      -- The table has one row for each month.
      -- squawk-ignore constraint-missing-not-valid, adding-serial-primary-key-field
      ALTER TABLE "audit_drop" ADD CONSTRAINT "audit_drop_pkey" PRIMARY KEY ("number")
    `);
  }

  /** Fails if a month was dropped twice. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET LOCAL lock_timeout = 1000');
    await queryRunner.query('ALTER TABLE "audit_drop" DROP CONSTRAINT "audit_drop_pkey"');
    await queryRunner.query(
      'ALTER TABLE "audit_drop" ADD CONSTRAINT "audit_drop_pkey" PRIMARY KEY ("month")',
    );
    await queryRunner.query('ALTER TABLE "audit_drop" DROP COLUMN "number"');
  }
}
