import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets the allowances of plans reset at the start of each calendar day, week, month or year. */
export class ResetAllowancesByCalendar1795350000001 implements MigrationInterface {
  readonly name = 'ResetAllowancesByCalendar1795350000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "plan_entitlement" DROP CONSTRAINT "plan_entitlement_reset_check"
    `);
    await queryRunner.query(`
      ALTER TABLE "plan_entitlement" ADD CONSTRAINT "plan_entitlement_reset_check"
      CHECK ("reset" IN ('period', 'day', 'week', 'month', 'year', 'never'))
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "plan_entitlement" DROP CONSTRAINT "plan_entitlement_reset_check"
    `);
    await queryRunner.query(`
      ALTER TABLE "plan_entitlement" ADD CONSTRAINT "plan_entitlement_reset_check"
      CHECK ("reset" IN ('period', 'never'))
    `);
  }
}
