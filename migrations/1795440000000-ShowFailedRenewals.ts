import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores with a subscription since when its due work has been failing, and why. */
export class ShowFailedRenewals1795440000000 implements MigrationInterface {
  readonly name = 'ShowFailedRenewals1795440000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "subscription"
      ADD "renewal_failed_at" TIMESTAMP(3) WITH TIME ZONE,
      ADD "renewal_failure_code" character varying(64)
    `);
    await queryRunner.query(`
      ALTER TABLE "subscription" ADD CONSTRAINT "subscription_renewal_failure_check"
        CHECK (("renewal_failed_at" IS NULL) = ("renewal_failure_code" IS NULL)) NOT VALID
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "subscription" DROP COLUMN "renewal_failure_code"');
    await queryRunner.query('ALTER TABLE "subscription" DROP COLUMN "renewal_failed_at"');
  }
}
