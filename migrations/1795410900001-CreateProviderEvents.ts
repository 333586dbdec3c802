import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events of payment providers, up to where the lists of events were read, and how providers describe payment methods. */
export class CreateProviderEvents1795410900001 implements MigrationInterface {
  readonly name = 'CreateProviderEvents1795410900001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "payment_method"
        ADD "brand" character varying(40),
        ADD "last4" character varying(4),
        ADD "expiry_month" integer,
        ADD "expiry_year" integer
    `);
    await queryRunner.query(`
      CREATE TABLE "provider_event" (
        "id" character varying(255) COLLATE "C" NOT NULL,
        "provider" character varying(20) NOT NULL,
        "type" character varying(100) NOT NULL,
        "subject_id" character varying(40) COLLATE "C" NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "received_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "due_at" TIMESTAMP(3) WITH TIME ZONE,
        "leased_by" integer,
        "attempts" integer NOT NULL DEFAULT 0,
        CONSTRAINT "provider_event_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "provider_event_due_index" ON "provider_event" ("due_at") WHERE "due_at" IS NOT NULL',
    );
    await queryRunner.query(
      'CREATE INDEX "provider_event_leased_by_index" ON "provider_event" ("leased_by") WHERE "leased_by" IS NOT NULL',
    );
    await queryRunner.query(
      'CREATE INDEX "provider_event_received_index" ON "provider_event" ("received_at")',
    );
    await queryRunner.query(`
      CREATE TABLE "provider_cursor" (
        "provider" character varying(20) NOT NULL,
        "read_until" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "due_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "provider_cursor_pkey" PRIMARY KEY ("provider")
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "provider_cursor"');
    await queryRunner.query('DROP TABLE "provider_event"');
    await queryRunner.query(`
      ALTER TABLE "payment_method"
        DROP "expiry_year", DROP "expiry_month", DROP "last4", DROP "brand"
    `);
  }
}
