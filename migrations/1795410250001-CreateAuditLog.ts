import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['audit_log', 'audit_change', 'audit_seal'] as const;

/**
 * The audit log: operations, what they changed, and seals that show if a row was changed later. A trigger refuses
 * updates and deletes. Operations and changes have one partition for each month, and a default partition for rows of
 * months that have no partition.
 */
export class CreateAuditLog1795410250001 implements MigrationInterface {
  readonly name = 'CreateAuditLog1795410250001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "audit_log" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "actor_type" character varying(20) NOT NULL,
        "actor_id" character varying(40) COLLATE "C" NOT NULL,
        "operation" character varying(80) COLLATE "C",
        "request_id" character varying(128),
        "address" character varying(64),
        CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id", "created_at")
      ) PARTITION BY RANGE ("created_at")
    `);
    await queryRunner.query(
      'CREATE INDEX "audit_log_actor_index" ON "audit_log" ("actor_id", "id")',
    );
    await queryRunner.query(
      'CREATE INDEX "audit_log_operation_index" ON "audit_log" ("operation", "id")',
    );
    await queryRunner.query('CREATE SEQUENCE "audit_change_position"');
    await queryRunner.query(`
      CREATE TABLE "audit_change" (
        "entry_id" character varying(40) COLLATE "C" NOT NULL,
        "position" bigint NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "action" character varying(80) COLLATE "C" NOT NULL,
        "object_id" character varying(40) COLLATE "C" NOT NULL,
        "changes" json NOT NULL,
        CONSTRAINT "audit_change_position_check" CHECK ("position" > 0),
        CONSTRAINT "audit_change_pkey" PRIMARY KEY ("entry_id", "position", "created_at")
      ) PARTITION BY RANGE ("created_at")
    `);
    await queryRunner.query(
      'CREATE INDEX "audit_change_position_index" ON "audit_change" ("position")',
    );
    await queryRunner.query(
      'CREATE INDEX "audit_change_object_index" ON "audit_change" ("object_id", "entry_id")',
    );
    await queryRunner.query(`
      CREATE TABLE "audit_log_default" PARTITION OF "audit_log" DEFAULT
    `);
    await queryRunner.query(`
      CREATE TABLE "audit_change_default" PARTITION OF "audit_change" DEFAULT
    `);
    await queryRunner.query(`
      CREATE TABLE "audit_seal" (
        "number" bigint NOT NULL,
        "from_position" bigint NOT NULL,
        "to_position" bigint NOT NULL,
        "change_count" integer NOT NULL,
        "hash" character(64) NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "audit_seal_positions_check" CHECK ("from_position" < "to_position"),
        CONSTRAINT "audit_seal_pkey" PRIMARY KEY ("number")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "audit_usage_count" (
        "actor_id" character varying(40) COLLATE "C" NOT NULL,
        "operation" character varying(80) COLLATE "C" NOT NULL,
        "hour" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "actor_type" character varying(20) NOT NULL,
        "request_count" bigint NOT NULL,
        CONSTRAINT "audit_usage_count_pkey" PRIMARY KEY ("actor_id", "operation", "hour")
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "audit_usage_count_hour_index" ON "audit_usage_count" ("hour")',
    );
    await queryRunner.query(`
      CREATE FUNCTION "refuse_change_of_audit_log"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'The audit log is append-only: % of % is refused.', TG_OP, TG_TABLE_NAME
          USING ERRCODE = 'restrict_violation';
      END $$
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
    for (const table of ['audit_usage_count', 'audit_seal', 'audit_change', 'audit_log']) {
      await queryRunner.query(`DROP TABLE "${table}"`);
    }
    await queryRunner.query('DROP SEQUENCE "audit_change_position"');
    await queryRunner.query('DROP FUNCTION "refuse_change_of_audit_log"');
  }
}
