import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Refuses an event, or a change of the audit log, that has neither its own data nor a place in a pack. */
export class CheckPackedRows1795412000000 implements MigrationInterface {
  readonly name = 'CheckPackedRows1795412000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "event" ADD CONSTRAINT "event_pack_check"
        CHECK (("pack_id" IS NULL) = ("pack_place" IS NULL)) NOT VALID
    `);
    await queryRunner.query(`
      ALTER TABLE "audit_change" ADD CONSTRAINT "audit_change_pack_check"
        CHECK (num_nulls("pack_position", "pack_place") = CASE WHEN "changes" IS NULL THEN 0 ELSE 2 END) NOT VALID
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "audit_change" DROP CONSTRAINT "audit_change_pack_check"');
    await queryRunner.query('ALTER TABLE "event" DROP CONSTRAINT "event_pack_check"');
  }
}
