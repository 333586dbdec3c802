import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Marks payment methods that cannot be used after a final decline. Existing methods have no mark until their next
 * decline.
 */
export class MarkUnusablePaymentMethods1795411510010 implements MigrationInterface {
  readonly name = 'MarkUnusablePaymentMethods1795411510010';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "payment_method"
        ADD COLUMN "unusable_since" TIMESTAMP(3) WITH TIME ZONE,
        ADD COLUMN "unusable_reason" character varying(100)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "payment_method" DROP COLUMN "unusable_since", DROP COLUMN "unusable_reason"`);
  }
}
