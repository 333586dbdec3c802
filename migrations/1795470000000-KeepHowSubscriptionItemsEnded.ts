import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores what ended a subscription item within a period: a pause, or a change by day or by second. Items that ended before have
 * null, and are counted by the former rule.
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
