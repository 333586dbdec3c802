import type { MigrationInterface, QueryRunner } from 'typeorm';

const TRIGGER = '"audit_change_append_only"';

/** Lets the values of several changes of one commit be stored in one row, a pack. Existing changes stay as they are. */
export class PackAuditChanges1795411900203 implements MigrationInterface {
  readonly name = 'PackAuditChanges1795411900203';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "audit_change" ADD "pack" json array');
    await queryRunner.query('ALTER TABLE "audit_change" ADD "pack_position" bigint');
    await queryRunner.query('ALTER TABLE "audit_change" ADD "pack_place" smallint');
    await queryRunner.query('ALTER TABLE "audit_change" ALTER "changes" DROP NOT NULL');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "audit_change" DISABLE TRIGGER ${TRIGGER}`);
    await queryRunner.query(`
      UPDATE "audit_change" AS "change" SET "changes" = "first"."pack"["change"."pack_place"]
      FROM "audit_change" AS "first"
      WHERE "first"."position" = "change"."pack_position" AND "first"."created_at" = "change"."created_at"
    `);
    await queryRunner.query(`ALTER TABLE "audit_change" ENABLE TRIGGER ${TRIGGER}`);
    await queryRunner.query('ALTER TABLE "audit_change" ALTER "changes" SET NOT NULL');
    for (const column of ['pack_place', 'pack_position', 'pack']) {
      await queryRunner.query(`ALTER TABLE "audit_change" DROP "${column}"`);
    }
  }
}
