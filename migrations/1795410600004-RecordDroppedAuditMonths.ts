import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['audit_drop', 'audit_dropped_change'] as const;

/**
 * Records which months of the audit log were dropped at the end of their retention. Some seals cover dropped changes
 * and later ones; to verify them, hashes of the dropped changes are kept. The tables are append-only, like the audit
 * log.
 */
export class RecordDroppedAuditMonths1795410600004 implements MigrationInterface {
  readonly name = 'RecordDroppedAuditMonths1795410600004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "audit_drop" (
        "month" character(7) NOT NULL,
        "entry_count" bigint NOT NULL,
        "change_count" bigint NOT NULL,
        "through_seal" bigint NOT NULL,
        "through_position" bigint NOT NULL,
        "kept_digest" character(64) NOT NULL,
        "dropped_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "audit_drop_counts_check"
          CHECK ("entry_count" >= 0 AND "change_count" >= 0 AND "through_seal" >= 0),
        CONSTRAINT "audit_drop_pkey" PRIMARY KEY ("month")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "audit_dropped_change" (
        "position" bigint NOT NULL,
        "row_hash" bytea NOT NULL,
        CONSTRAINT "audit_dropped_change_pkey" PRIMARY KEY ("position")
      )
    `);
    for (const table of TABLES) {
      await queryRunner.query(`
        CREATE TRIGGER "${table}_append_only" BEFORE UPDATE OR DELETE ON "${table}"
        FOR EACH ROW EXECUTE FUNCTION "refuse_change_of_audit_log"()
      `);
      await queryRunner.query(`
        CREATE TRIGGER "${table}_no_truncate" BEFORE TRUNCATE ON "${table}"
        FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change_of_audit_log"()
      `);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES) await queryRunner.query(`DROP TABLE "${table}"`);
  }
}
