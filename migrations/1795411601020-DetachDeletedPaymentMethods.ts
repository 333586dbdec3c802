import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks deleted payment methods that must be detached at their provider. Methods that were deleted before stay attached. */
export class DetachDeletedPaymentMethods1795411601020 implements MigrationInterface {
  readonly name = 'DetachDeletedPaymentMethods1795411601020';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "payment_method"
        ADD COLUMN "due_at" TIMESTAMP(3) WITH TIME ZONE,
        ADD COLUMN "leased_by" integer,
        ADD COLUMN "attempts" integer NOT NULL DEFAULT '0'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "payment_method" DROP COLUMN "due_at", DROP COLUMN "leased_by", DROP COLUMN "attempts"`);
  }
}
