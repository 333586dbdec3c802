import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets a discrepancy be recorded again after it was applied: a bank can return a refund whose success was applied, and
 * the refund can then succeed again. The previous release records it once, because it looks for all earlier ones.
 */
export class LetAppliedDiscrepanciesRecur1795602000000 implements MigrationInterface {
  readonly name = 'LetAppliedDiscrepanciesRecur1795602000000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'DROP INDEX CONCURRENTLY IF EXISTS "provider_discrepancy_unapplied_unique"',
    );
    await queryRunner.query(`
      CREATE UNIQUE INDEX CONCURRENTLY "provider_discrepancy_unapplied_unique"
      ON "provider_discrepancy" ("subject_id", "recorded_status", "reported_status")
      WHERE "status" <> 'applied'
    `);
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "provider_discrepancy_unique"');
  }

  /** Fails if a discrepancy was recorded again, because the former index does not allow it. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE UNIQUE INDEX "provider_discrepancy_unique"
      ON "provider_discrepancy" ("subject_id", "recorded_status", "reported_status")
    `);
    await queryRunner.query('DROP INDEX "provider_discrepancy_unapplied_unique"');
  }
}
