import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = `
  "delivery_id" character varying(40) COLLATE "C" NOT NULL,
  "number" smallint NOT NULL,
  "started_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
  "duration_ms" integer NOT NULL,
  "status_code" smallint,
  "error" character varying(300),
  "response_start" text,
  CONSTRAINT "webhook_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id")
    REFERENCES "webhook_delivery" ("id") ON DELETE CASCADE`;

const BOUND = `
  SELECT substring(pg_get_constraintdef(oid) FROM $$'([^']+)'$$) AS bound
  FROM pg_constraint WHERE conname = 'webhook_attempt_before_check'`;

/**
 * Partitions attempts by month, so that old months can be dropped as a whole. The existing table becomes the partition
 * of all months up to its limit. The strong locks are held only for milliseconds, because the previous migration has
 * verified the limit and built the key.
 */
export class PartitionWebhookAttempts1795411400012 implements MigrationInterface {
  readonly name = 'PartitionWebhookAttempts1795411400012';

  async up(queryRunner: QueryRunner): Promise<void> {
    const [check] = (await queryRunner.query(BOUND)) as { bound: string }[];
    // In the order of the statement that records attempts.
    await queryRunner.query('LOCK TABLE "webhook_delivery" IN SHARE ROW EXCLUSIVE MODE');
    await queryRunner.query('LOCK TABLE "webhook_attempt" IN ACCESS EXCLUSIVE MODE');
    const [found] = (await queryRunner.query(
      'SELECT 1 FROM "webhook_attempt" LIMIT 1',
    )) as object[];
    await queryRunner.query('ALTER TABLE "webhook_attempt" DROP CONSTRAINT "webhook_attempt_pkey"');
    await queryRunner.query(`
      ALTER TABLE "webhook_attempt"
      ADD CONSTRAINT "webhook_attempt_before_pkey" PRIMARY KEY USING INDEX "webhook_attempt_before_key"
    `);
    await queryRunner.query(`
      -- A partitioned table takes the name in the same transaction.
      -- squawk-ignore renaming-table
      ALTER TABLE "webhook_attempt" RENAME TO "webhook_attempt_before"
    `);
    await queryRunner.query(`
      CREATE TABLE "webhook_attempt" (${COLUMNS},
        CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("delivery_id", "number", "started_at")
      ) PARTITION BY RANGE ("started_at")
    `);
    if (found === undefined) {
      await queryRunner.query(`
        -- It is empty.
        -- squawk-ignore ban-drop-table
        DROP TABLE "webhook_attempt_before"
      `);
    } else {
      await queryRunner.query(`
        ALTER TABLE "webhook_attempt" ATTACH PARTITION "webhook_attempt_before"
        FOR VALUES FROM (MINVALUE) TO ('${check?.bound ?? ''}')
      `);
      await queryRunner.query(
        'ALTER TABLE "webhook_attempt_before" DROP CONSTRAINT "webhook_attempt_before_check"',
      );
    }
    await queryRunner.query(
      'CREATE TABLE "webhook_attempt_default" PARTITION OF "webhook_attempt" DEFAULT',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "webhook_attempt" RENAME TO "webhook_attempt_by_month"');
    await queryRunner.query(
      'ALTER INDEX "webhook_attempt_pkey" RENAME TO "webhook_attempt_by_month_pkey"',
    );
    await queryRunner.query(`
      CREATE TABLE "webhook_attempt" (${COLUMNS},
        CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("delivery_id", "number")
      )
    `);
    await queryRunner.query(
      'INSERT INTO "webhook_attempt" SELECT * FROM "webhook_attempt_by_month"',
    );
    await queryRunner.query('DROP TABLE "webhook_attempt_by_month"');
  }
}
