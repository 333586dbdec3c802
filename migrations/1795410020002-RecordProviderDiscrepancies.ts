import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores reports of payment providers that contradict a final outcome. They stay until an operator applies or dismisses
 * them.
 */
export class RecordProviderDiscrepancies1795410020002 implements MigrationInterface {
  readonly name = 'RecordProviderDiscrepancies1795410020002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "provider_discrepancy" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "version" integer NOT NULL,
        "payment_id" character varying(40) COLLATE "C" NOT NULL,
        "refund_id" character varying(40) COLLATE "C",
        "subject_id" character varying(40) COLLATE "C" NOT NULL,
        "recorded_status" character varying(20) NOT NULL,
        "reported_status" character varying(20) NOT NULL,
        "provider_reference" character varying(255),
        "failure_code" character varying(100),
        "status" character varying(20) NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "provider_discrepancy_status_check" CHECK ("status" IN ('open', 'applied', 'dismissed')),
        CONSTRAINT "provider_discrepancy_recorded_check" CHECK ("recorded_status" IN ('succeeded', 'failed', 'canceled')),
        CONSTRAINT "provider_discrepancy_reported_check" CHECK ("reported_status" IN ('succeeded', 'failed')),
        CONSTRAINT "provider_discrepancy_pkey" PRIMARY KEY ("id"),
        CONSTRAINT "provider_discrepancy_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment" ("id")
          ON DELETE NO ACTION ON UPDATE NO ACTION
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "provider_discrepancy_payment_index" ON "provider_discrepancy" ("payment_id")
    `);
    await queryRunner.query(`
      CREATE UNIQUE INDEX "provider_discrepancy_unique"
        ON "provider_discrepancy" ("subject_id", "recorded_status", "reported_status")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "provider_discrepancy"');
  }
}
