import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps what an endpoint received before a change, for events that were recorded before the change and are sent after it. */
export class KeepFormerSubscriptions1795600000000 implements MigrationInterface {
  readonly name = 'KeepFormerSubscriptions1795600000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "webhook_former_subscription" (
        "endpoint_id" character varying(40) COLLATE "C" NOT NULL,
        "until_event_id" character varying(40) COLLATE "C" NOT NULL,
        "events" character varying(80) array NOT NULL,
        CONSTRAINT "webhook_former_subscription_pkey" PRIMARY KEY ("endpoint_id", "until_event_id"),
        CONSTRAINT "webhook_former_subscription_endpoint_id_fkey"
          FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint" ("id") ON DELETE CASCADE)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "webhook_former_subscription"');
  }
}
