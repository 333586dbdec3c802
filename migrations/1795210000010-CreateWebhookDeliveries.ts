import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deliveries of events to webhook endpoints, the attempts of each delivery, and the count of failures of each endpoint. */
export class CreateWebhookDeliveries1795210000010 implements MigrationInterface {
  readonly name = 'CreateWebhookDeliveries1795210000010';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "webhook_attempt" (
          "delivery_id" character varying(40) COLLATE "C" NOT NULL,
          "number" smallint NOT NULL,
          "started_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "duration_ms" integer NOT NULL,
          "status_code" smallint,
          "error" character varying(300),
          "response_start" text,
          CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("delivery_id", "number")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "webhook_failure" (
          "endpoint_id" character varying(40) COLLATE "C" NOT NULL,
          "since" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "webhook_failure_pkey" PRIMARY KEY ("endpoint_id")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "webhook_delivery" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "endpoint_id" character varying(40) COLLATE "C" NOT NULL,
          "event_id" character varying(40) COLLATE "C" NOT NULL,
          "event_type" character varying(80) NOT NULL,
          "object_id" character varying(40) COLLATE "C" NOT NULL,
          "sequence" integer NOT NULL,
          "kind" character varying(10) NOT NULL,
          "status" character varying(10) NOT NULL,
          "attempts" smallint NOT NULL DEFAULT '0',
          "due_at" TIMESTAMP(3) WITH TIME ZONE,
          "fence" integer NOT NULL DEFAULT '0',
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "webhook_delivery_attempts_check" CHECK (
              "attempts" BETWEEN 0 AND 10
              AND "fence" >= "attempts"
          ),
          CONSTRAINT "webhook_delivery_due_check" CHECK (("due_at" IS NOT NULL) = ("status" = 'pending')),
          CONSTRAINT "webhook_delivery_kind_check" CHECK ("kind" IN ('event', 'retry', 'replay', 'test')),
          CONSTRAINT "webhook_delivery_status_check" CHECK (
              "status" IN ('pending', 'succeeded', 'failed', 'discarded')
          ),
          CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "webhook_delivery_order_index" ON "webhook_delivery" ("endpoint_id", "object_id", "sequence", "id")
      WHERE "status" = 'pending'
    `);
    await queryRunner.query(`
      CREATE INDEX "webhook_delivery_due_index" ON "webhook_delivery" ("endpoint_id", "due_at")
      WHERE "status" = 'pending'
    `);
    await queryRunner.query(`
      CREATE INDEX "webhook_delivery_endpoint_index" ON "webhook_delivery" ("endpoint_id", "id")
    `);
    await queryRunner.query(`
      CREATE UNIQUE INDEX "webhook_delivery_event_unique" ON "webhook_delivery" ("event_id", "endpoint_id")
      WHERE "kind" = 'event'
    `);
    await queryRunner.query(`
      ALTER TABLE "webhook_attempt"
      ADD CONSTRAINT "webhook_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_delivery"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "webhook_failure"
      ADD CONSTRAINT "webhook_failure_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "webhook_delivery"
      ADD CONSTRAINT "webhook_delivery_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "webhook_delivery"
      ADD CONSTRAINT "webhook_delivery_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "event"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "webhook_failure"');
    await queryRunner.query('DROP TABLE "webhook_attempt"');
    await queryRunner.query('DROP TABLE "webhook_delivery"');
  }
}
