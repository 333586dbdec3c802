import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the time at which the end of a trial is announced. Running trials get this time if it is still in the future. */
export class AddTrialEnding1795300000002 implements MigrationInterface {
  readonly name = 'AddTrialEnding1795300000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "subscription" ADD "trial_ending_at" TIMESTAMP(3) WITH TIME ZONE',
    );
    await queryRunner.query(`
      UPDATE "subscription" SET
          "trial_ending_at" = "trial_end_at" - INTERVAL '72 hours',
          "next_billing_at" = least("next_billing_at", "trial_end_at" - INTERVAL '72 hours')
      WHERE "status" = 'trialing' AND "trial_end_at" - INTERVAL '72 hours' > coalesce(
        (SELECT "instant" FROM "test_clock" WHERE "test_clock"."id" = "test_clock_id"), now())
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE "subscription" SET "next_billing_at" = least("trial_end_at", "cancel_at")
      WHERE "next_billing_at" = "trial_ending_at"
    `);
    await queryRunner.query('ALTER TABLE "subscription" DROP COLUMN "trial_ending_at"');
  }
}
