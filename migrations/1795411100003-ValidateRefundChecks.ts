import type { MigrationInterface, QueryRunner } from 'typeorm';

const CHECKS = [
  'refund_source_check',
  'refund_source_reference_check',
  'refund_credit_note_id_fkey',
];

/** Validates the new checks of refunds. This is a separate transaction, so that writers are not blocked. */
export class ValidateRefundChecks1795411100003 implements MigrationInterface {
  readonly name = 'ValidateRefundChecks1795411100003';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const check of CHECKS) {
      await queryRunner.query(`ALTER TABLE "refund" VALIDATE CONSTRAINT "${check}"`);
    }
  }

  async down(): Promise<void> {
    // A validated check stays valid.
  }
}
