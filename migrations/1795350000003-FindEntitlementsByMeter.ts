import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes entitlements by meter, because each batch of usage looks them up. */
export class FindEntitlementsByMeter1795350000003 implements MigrationInterface {
  readonly name = 'FindEntitlementsByMeter1795350000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX "entitlement_meter_id_index" ON "entitlement" ("meter_id")
      WHERE "meter_id" IS NOT NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "entitlement_meter_id_index"');
  }
}
