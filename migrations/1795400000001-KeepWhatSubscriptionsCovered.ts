import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores how much usage the subscriptions covered when it was used, so that it stays covered if the allowance is
 * reduced later. For current windows, this is computed from the present allowance.
 */
export class KeepWhatSubscriptionsCovered1795400000001 implements MigrationInterface {
  readonly name = 'KeepWhatSubscriptionsCovered1795400000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "customer_entitlement" ADD "covered" NUMERIC NOT NULL DEFAULT 0
    `);
    await queryRunner.query(`
      ALTER TABLE "customer_entitlement" ALTER COLUMN "covered" DROP DEFAULT
    `);
    await queryRunner.query(`
      UPDATE "customer_entitlement" SET "covered" = LEAST(GREATEST("used" - "spent", 0), COALESCE("allowance", "used"))
      WHERE "is_held" AND "used" > 0
    `);
    await queryRunner.query(`
      ALTER TABLE "customer_entitlement"
        DROP CONSTRAINT "customer_entitlement_check",
        ADD CONSTRAINT "customer_entitlement_check"
          CHECK ("allowance" >= 0 AND "granted" >= 0 AND "spent" >= 0 AND "covered" >= 0)
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "customer_entitlement"
        DROP CONSTRAINT "customer_entitlement_check",
        ADD CONSTRAINT "customer_entitlement_check" CHECK ("allowance" >= 0 AND "granted" >= 0 AND "spent" >= 0)
    `);
    await queryRunner.query('ALTER TABLE "customer_entitlement" DROP COLUMN "covered"');
  }
}
