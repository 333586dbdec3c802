import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The outbox of events, and the idempotency keys with the answers to their requests. */
export class CreatePlatform1795210000001 implements MigrationInterface {
  readonly name = 'CreatePlatform1795210000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "idempotency_key" (
          "key" character varying(255) COLLATE "C" NOT NULL,
          "fingerprint" character(64) NOT NULL,
          "resource_id" character varying(40) COLLATE "C",
          "answer_status" smallint,
          "answer_headers" json,
          "answer_body" text,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "expires_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "idempotency_key_answer_check" CHECK (
              ("answer_status" IS NULL) = ("answer_body" IS NULL)
              AND ("answer_status" IS NULL) = ("answer_headers" IS NULL)
          ),
          CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("key")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "idempotency_key_resource_index" ON "idempotency_key" ("resource_id")
      WHERE "resource_id" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "idempotency_key_expires_at_index" ON "idempotency_key" ("expires_at")
    `);
    await queryRunner.query(`
      CREATE TABLE "event" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "type" character varying(80) NOT NULL,
          "object_id" character varying(40) COLLATE "C" NOT NULL,
          "sequence" integer NOT NULL,
          "data" json NOT NULL,
          "occurred_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "dispatched_at" TIMESTAMP(3) WITH TIME ZONE,
          CONSTRAINT "event_object_sequence_unique" UNIQUE ("object_id", "sequence"),
          CONSTRAINT "event_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "event_occurred_at_index" ON "event" ("occurred_at", "id")
    `);
    await queryRunner.query(`
      CREATE INDEX "event_type_index" ON "event" ("type", "id")
    `);
    await queryRunner.query(`
      CREATE INDEX "event_undispatched_index" ON "event" ("id")
      WHERE "dispatched_at" IS NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "event"');
    await queryRunner.query('DROP TABLE "idempotency_key"');
  }
}
