import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The first month that begins at least a week from now and after all existing attempts. */
const FIRST_FREE_MONTH = `
  SELECT to_char(date_trunc('month', newest AT TIME ZONE 'UTC' + interval '1 month 7 days'), 'YYYY-MM-DD"T"00:00:00"Z"') AS bound
  FROM (SELECT greatest(now(), max("started_at")) AS newest FROM "webhook_attempt") AS attempt`;

/**
 * Sets an upper limit for the time of attempts in the existing table. With it, the table can become a partition without
 * being read under a lock.
 */
export class BoundWebhookAttempts1795411400010 implements MigrationInterface {
  readonly name = 'BoundWebhookAttempts1795411400010';

  async up(queryRunner: QueryRunner): Promise<void> {
    const [month] = (await queryRunner.query(FIRST_FREE_MONTH)) as { bound: string }[];
    await queryRunner.query(`
      ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_before_check"
      CHECK ("started_at" < '${month?.bound ?? ''}') NOT VALID
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "webhook_attempt" DROP CONSTRAINT IF EXISTS "webhook_attempt_before_check"',
    );
  }
}
