import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhook endpoints and their secrets. */
export class CreateWebhookEndpoints1795210000007 implements MigrationInterface {
  readonly name = 'CreateWebhookEndpoints1795210000007';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "webhook_endpoint" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "url" character varying(2048) NOT NULL,
          "events" character varying(80) array NOT NULL,
          "description" character varying(500),
          "is_active" boolean NOT NULL DEFAULT true,
          "ordered" boolean NOT NULL DEFAULT false,
          "disabled_reason" character varying(10),
          "metadata" jsonb NOT NULL,
          "deleted_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "webhook_endpoint_disabled_check" CHECK (
              "disabled_reason" IS NULL
              OR (
                  "disabled_reason" IN ('gone', 'failing')
                  AND NOT "is_active"
              )
          ),
          CONSTRAINT "webhook_endpoint_events_check" CHECK (
              cardinality("events") BETWEEN 1 AND 100
          ),
          CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "webhook_endpoint_live_index" ON "webhook_endpoint" ("id")
      WHERE "deleted_at" IS NULL
    `);
    await queryRunner.query(`
      CREATE TABLE "webhook_secret" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "endpoint_id" character varying(40) COLLATE "C" NOT NULL,
          "sealed" text NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "expires_at" TIMESTAMP(3) WITH TIME ZONE,
          CONSTRAINT "webhook_secret_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "webhook_secret_endpoint_index" ON "webhook_secret" ("endpoint_id")
    `);
    await queryRunner.query(`
      CREATE UNIQUE INDEX "webhook_secret_current_unique" ON "webhook_secret" ("endpoint_id")
      WHERE "expires_at" IS NULL
    `);
    await queryRunner.query(`
      ALTER TABLE "webhook_secret"
      ADD CONSTRAINT "webhook_secret_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "webhook_secret"');
    await queryRunner.query('DROP TABLE "webhook_endpoint"');
  }
}
