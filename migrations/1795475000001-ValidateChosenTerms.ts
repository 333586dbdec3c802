import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CheckChosenTerms1795475000000 } from './1795475000000-CheckChosenTerms';

/** Checks the rows that were stored before the constraints, without a lock that blocks writers. */
export class ValidateChosenTerms1795475000001 implements MigrationInterface {
  readonly name = 'ValidateChosenTerms1795475000001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, constraint] of CheckChosenTerms1795475000000.constraints) {
      await queryRunner.query(`ALTER TABLE "${table}" VALIDATE CONSTRAINT "${constraint}"`);
    }
  }

  async down(): Promise<void> {
    // The migration that adds the constraints drops them.
  }
}
