import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores the principal that caused an event or created a refund. Makes the column of idempotency keys longer, because
 * it now contains the principal too. Existing refunds were created without credentials.
 */
export class RecordActors1795410230002 implements MigrationInterface {
  readonly name = 'RecordActors1795410230002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "event" ADD COLUMN "actor" character varying(40) COLLATE "C"',
    );
    await queryRunner.query(
      `ALTER TABLE "refund" ADD COLUMN "actor" character varying(40) COLLATE "C" NOT NULL DEFAULT 'open'`,
    );
    await queryRunner.query(
      'ALTER TABLE "idempotency_key" ALTER COLUMN "key" TYPE character varying(300) COLLATE "C"',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DELETE FROM "idempotency_key" WHERE length("key") > 255');
    await queryRunner.query(
      'ALTER TABLE "idempotency_key" ALTER COLUMN "key" TYPE character varying(255) COLLATE "C"',
    );
    await queryRunner.query('ALTER TABLE "refund" DROP COLUMN "actor"');
    await queryRunner.query('ALTER TABLE "event" DROP COLUMN "actor"');
  }
}
