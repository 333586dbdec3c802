import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Makes the customer of a refund required. */
export class RequireCustomerOfRefunds1795411715003 implements MigrationInterface {
  readonly name = 'RequireCustomerOfRefunds1795411715003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- The validated check proves it, so no row is read.
      -- squawk-ignore adding-not-nullable-field
      ALTER TABLE "refund" ALTER "customer_id" SET NOT NULL
    `);
    await queryRunner.query(
      'ALTER TABLE "refund" DROP CONSTRAINT IF EXISTS "refund_customer_check"',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "refund"
        ADD CONSTRAINT "refund_customer_check" CHECK ("customer_id" IS NOT NULL) NOT VALID,
        ALTER "customer_id" DROP NOT NULL
    `);
  }
}
