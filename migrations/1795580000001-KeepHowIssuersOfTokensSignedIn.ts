import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores whether the admin who issued a customer token had signed in with a password. Existing tokens get false; they
 * end within a day.
 */
export class KeepHowIssuersOfTokensSignedIn1795580000001 implements MigrationInterface {
  readonly name = 'KeepHowIssuersOfTokensSignedIn1795580000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "customer_token" ADD "issuer_used_password" boolean NOT NULL DEFAULT false',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "customer_token" DROP COLUMN "issuer_used_password"');
  }
}
