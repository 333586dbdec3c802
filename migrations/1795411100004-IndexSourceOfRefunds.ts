import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  refund_credit_note_unique: '("credit_note_id") WHERE "credit_note_id" IS NOT NULL',
  refund_made_elsewhere_unique:
    '("payment_id", "provider_reference") WHERE "source" = \'provider\'',
};

/** Allows only one refund for a credit note. Allows recording a refund that was made at the provider only once. */
export class IndexSourceOfRefunds1795411100004 implements MigrationInterface {
  readonly name = 'IndexSourceOfRefunds1795411100004';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, columns] of Object.entries(INDEXES)) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await queryRunner.query(`CREATE UNIQUE INDEX CONCURRENTLY "${name}" ON "refund" ${columns}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await queryRunner.query(`DROP INDEX "${name}"`);
  }
}
