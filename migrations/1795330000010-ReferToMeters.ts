import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds foreign keys from prices and entitlements to meters. Before, they could name meters that do not exist. */
export class ReferToMeters1795330000010 implements MigrationInterface {
  readonly name = 'ReferToMeters1795330000010';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "price"
      ADD CONSTRAINT "price_meter_id_fkey" FOREIGN KEY ("meter_id") REFERENCES "meter" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "entitlement"
      ADD CONSTRAINT "entitlement_meter_id_fkey" FOREIGN KEY ("meter_id") REFERENCES "meter" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE "entitlement" DROP CONSTRAINT "entitlement_meter_id_fkey"`,
    );
    await queryRunner.query(`ALTER TABLE "price" DROP CONSTRAINT "price_meter_id_fkey"`);
  }
}
