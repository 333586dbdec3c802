import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets the newest period of a subscription be found without reading its other periods. */
export class IndexSubscriptionPeriods1795320000001 implements MigrationInterface {
  readonly name = 'IndexSubscriptionPeriods1795320000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX "subscription_period_subscription_index"
      ON "subscription_period" ("subscription_id", "start_at", "end_at")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "subscription_period_subscription_index"');
  }
}
