import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets two principals use the same idempotency key for different refunds. */
export class KeepRefundKeysByActor1795410230003 implements MigrationInterface {
  readonly name = 'KeepRefundKeysByActor1795410230003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "refund" DROP CONSTRAINT "refund_idempotency_key_unique"');
    await queryRunner.query(
      'ALTER TABLE "refund" ADD CONSTRAINT "refund_idempotency_key_unique" UNIQUE ("idempotency_key", "actor")',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "refund" DROP CONSTRAINT "refund_idempotency_key_unique"');
    await queryRunner.query(
      'ALTER TABLE "refund" ADD CONSTRAINT "refund_idempotency_key_unique" UNIQUE ("idempotency_key")',
    );
  }
}
