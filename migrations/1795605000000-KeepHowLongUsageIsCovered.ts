import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the instant before which usage stays covered although the balance has no window any more. */
export class KeepHowLongUsageIsCovered1795605000000 implements MigrationInterface {
  readonly name = 'KeepHowLongUsageIsCovered1795605000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "customer_entitlement" ADD COLUMN "covered_until" TIMESTAMP(3) WITH TIME ZONE',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "customer_entitlement" DROP COLUMN "covered_until"');
  }
}
