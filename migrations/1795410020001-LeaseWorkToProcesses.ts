import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores with each lease the process that holds it. When the process dies, others take over its work at once. Adding
 * the columns rewrites no table. The indexes contain only work in progress, so building one scans the table but sorts
 * little.
 */
export class LeaseWorkToProcesses1795410020001 implements MigrationInterface {
  readonly name = 'LeaseWorkToProcesses1795410020001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SEQUENCE "process_number" AS integer CYCLE');
    await queryRunner.query(`
      ALTER TABLE "idempotency_key"
        ADD "lease_ends_at" TIMESTAMP(3) WITH TIME ZONE, ADD "leased_by" integer
    `);
    for (const table of ['payment', 'refund']) {
      await queryRunner.query(`ALTER TABLE "${table}" ADD "leased_by" integer`);
      await queryRunner.query(`
        CREATE INDEX "${table}_leased_by_index" ON "${table}" ("leased_by")
        WHERE "leased_by" IS NOT NULL
      `);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "refund" DROP COLUMN "leased_by"');
    await queryRunner.query('ALTER TABLE "payment" DROP COLUMN "leased_by"');
    await queryRunner.query(
      'ALTER TABLE "idempotency_key" DROP COLUMN "leased_by", DROP COLUMN "lease_ends_at"',
    );
    await queryRunner.query('DROP SEQUENCE "process_number"');
  }
}
