import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replays of events to webhook endpoints. They run in the background, in steps of limited size. */
export class CreateWebhookReplays1795410040002 implements MigrationInterface {
  readonly name = 'CreateWebhookReplays1795410040002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "webhook_replay" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "endpoint_id" character varying(40) COLLATE "C" NOT NULL,
          "from_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "to_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "events" character varying(80) array NOT NULL,
          "status" character varying(10) NOT NULL,
          "failure_code" character varying(40),
          "read_to_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "read_to_id" character varying(40) COLLATE "C" NOT NULL,
          "events_read" bigint NOT NULL,
          "replayed" integer NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "webhook_replay_failure_check" CHECK (
              ("failure_code" IS NOT NULL) = ("status" = 'failed')
          ),
          CONSTRAINT "webhook_replay_status_check" CHECK ("status" IN ('running', 'completed', 'failed')),
          CONSTRAINT "webhook_replay_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE UNIQUE INDEX "webhook_replay_running_unique" ON "webhook_replay" ("endpoint_id")
      WHERE "status" = 'running'
    `);
    await queryRunner.query(`
      CREATE INDEX "webhook_replay_endpoint_index" ON "webhook_replay" ("endpoint_id", "id")
    `);
    await queryRunner.query(`
      ALTER TABLE "webhook_replay"
      ADD CONSTRAINT "webhook_replay_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "webhook_replay"');
  }
}
