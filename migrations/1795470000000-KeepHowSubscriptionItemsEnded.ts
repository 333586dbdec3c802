import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores why a subscription item ended within a period: by a pause, or by a change by day or by second. Items that have
 * already ended have null, and the former rule applies to them.
 */
export class KeepHowSubscriptionItemsEnded1795470000000 implements MigrationInterface {
  readonly name = 'KeepHowSubscriptionItemsEnded1795470000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "subscription_item" ADD "ended_by" character varying(20)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "subscription_item" DROP COLUMN "ended_by"');
  }
}
