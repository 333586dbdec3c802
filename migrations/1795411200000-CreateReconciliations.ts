import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Comparisons of payment providers with recorded payments: how far each has read the lists, and which differences it
 * found.
 */
export class CreateReconciliations1795411200000 implements MigrationInterface {
  readonly name = 'CreateReconciliations1795411200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "reconciliation" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "version" integer NOT NULL,
        "provider" character varying(20) NOT NULL,
        "status" character varying(20) NOT NULL,
        "failure_code" character varying(40),
        "from_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "to_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "phase" character varying(20) NOT NULL,
        "position" character varying(255),
        "charges_listed" integer NOT NULL,
        "refunds_listed" integer NOT NULL,
        "differences_found" integer NOT NULL,
        "is_truncated" boolean NOT NULL,
        "actor" character varying(40) COLLATE "C" NOT NULL,
        "due_at" TIMESTAMP(3) WITH TIME ZONE,
        "leased_by" integer,
        "attempts" integer NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "ended_at" TIMESTAMP(3) WITH TIME ZONE,
        CONSTRAINT "reconciliation_status_check" CHECK ("status" IN ('running', 'completed', 'failed')),
        CONSTRAINT "reconciliation_phase_check" CHECK ("phase" IN ('list_charges', 'list_refunds', 'compare_charges', 'compare_refunds', 'find_charges', 'find_refunds', 'clean')),
        CONSTRAINT "reconciliation_period_check" CHECK ("from_at" < "to_at"),
        CONSTRAINT "reconciliation_failure_check" CHECK ("status" <> 'failed' OR "failure_code" IS NOT NULL),
        CONSTRAINT "reconciliation_due_check" CHECK (("status" = 'running') = ("due_at" IS NOT NULL)),
        CONSTRAINT "reconciliation_end_check" CHECK (("status" = 'running') = ("ended_at" IS NULL)),
        CONSTRAINT "reconciliation_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(
      `CREATE UNIQUE INDEX "reconciliation_running_unique" ON "reconciliation" ("provider") WHERE "status" = 'running'`,
    );
    await queryRunner.query(
      'CREATE INDEX "reconciliation_due_index" ON "reconciliation" ("due_at") WHERE "due_at" IS NOT NULL',
    );
    await queryRunner.query(
      'CREATE INDEX "reconciliation_leased_by_index" ON "reconciliation" ("leased_by") WHERE "leased_by" IS NOT NULL',
    );
    await queryRunner.query(`
      CREATE TABLE "reconciliation_listed_movement" (
        "reconciliation_id" character varying(40) COLLATE "C" NOT NULL,
        "kind" character varying(10) NOT NULL,
        "reference" character varying(255) COLLATE "C" NOT NULL,
        "subject_id" character varying(500),
        "charge_reference" character varying(255),
        "amount" bigint NOT NULL,
        "currency" character(3) NOT NULL,
        "state" character varying(10) NOT NULL,
        CONSTRAINT "reconciliation_listed_movement_kind_check" CHECK ("kind" IN ('charge', 'refund')),
        CONSTRAINT "reconciliation_listed_movement_state_check" CHECK ("state" IN ('succeeded', 'open', 'ended')),
        CONSTRAINT "reconciliation_listed_movement_pkey" PRIMARY KEY ("reconciliation_id", "kind", "reference"),
        CONSTRAINT "reconciliation_listed_movement_reconciliation_id_fkey"
          FOREIGN KEY ("reconciliation_id") REFERENCES "reconciliation" ("id")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "reconciliation_difference" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "reconciliation_id" character varying(40) COLLATE "C" NOT NULL,
        "type" character varying(20) NOT NULL,
        "object" character varying(10) NOT NULL,
        "payment_id" character varying(40) COLLATE "C",
        "refund_id" character varying(40) COLLATE "C",
        "provider_reference" character varying(255),
        "booked_amount" bigint,
        "booked_currency" character(3),
        "booked_status" character varying(10),
        "provider_amount" bigint,
        "provider_currency" character(3),
        "provider_status" character varying(10),
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "reconciliation_difference_type_check" CHECK ("type" IN ('missing_here', 'missing_at_provider', 'charged_twice', 'status', 'currency', 'amount')),
        CONSTRAINT "reconciliation_difference_object_check" CHECK ("object" IN ('charge', 'refund')),
        CONSTRAINT "reconciliation_difference_pkey" PRIMARY KEY ("id"),
        CONSTRAINT "reconciliation_difference_reconciliation_id_fkey"
          FOREIGN KEY ("reconciliation_id") REFERENCES "reconciliation" ("id")
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "reconciliation_difference_run_index" ON "reconciliation_difference" ("reconciliation_id", "id")',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "reconciliation_difference"');
    await queryRunner.query('DROP TABLE "reconciliation_listed_movement"');
    await queryRunner.query('DROP TABLE "reconciliation"');
  }
}
