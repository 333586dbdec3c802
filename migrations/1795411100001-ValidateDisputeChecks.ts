import type { MigrationInterface, QueryRunner } from 'typeorm';

const CHECKS = {
  payment: 'payment_lost_check',
  credit_grant: 'credit_grant_remaining_check',
  ledger_transaction: 'ledger_transaction_kind_check',
};

/** Validates the checks that disputes changed. This is a separate transaction, so that writers are not blocked. */
export class ValidateDisputeChecks1795411100001 implements MigrationInterface {
  readonly name = 'ValidateDisputeChecks1795411100001';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, check] of Object.entries(CHECKS)) {
      await queryRunner.query(`ALTER TABLE "${table}" VALIDATE CONSTRAINT "${check}"`);
    }
  }

  async down(): Promise<void> {
    // A validated check stays valid.
  }
}
