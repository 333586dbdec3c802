import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CheckWholeRows1795540000000 } from './1795540000000-CheckWholeRows';

/** Checks the rows that were stored before the constraints, without a lock that blocks writers. */
export class ValidateWholeRows1795540000001 implements MigrationInterface {
  readonly name = 'ValidateWholeRows1795540000001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, checks] of CheckWholeRows1795540000000.constraints) {
      // In one statement, so that PostgreSQL reads the table once.
      const validated = checks.map(([name]) => `VALIDATE CONSTRAINT "${name}"`);
      await queryRunner.query(`ALTER TABLE "${table}" ${validated.join(', ')}`);
    }
  }

  async down(): Promise<void> {
    // The migration that adds the constraints drops them.
  }
}
