import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores the first pending delivery of each object of an ordered endpoint, so that a claim of work reads only what it
 * claims. Building the small partial index of events reads the whole table once, and blocks writes to it meanwhile.
 */
export class AddWebhookHeads1795410040001 implements MigrationInterface {
  readonly name = 'AddWebhookHeads1795410040001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "webhook_head" (
          "endpoint_id" character varying(40) COLLATE "C" NOT NULL,
          "object_id" character varying(40) COLLATE "C" NOT NULL,
          "delivery_id" character varying(40) COLLATE "C" NOT NULL,
          "sequence" integer NOT NULL,
          "due_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "webhook_head_pkey" PRIMARY KEY ("endpoint_id", "object_id")
      )
    `);
    await queryRunner.query(`
      INSERT INTO "webhook_head" ("endpoint_id", "object_id", "delivery_id", "sequence", "due_at")
      SELECT DISTINCT ON (delivery.endpoint_id, delivery.object_id)
        delivery.endpoint_id, delivery.object_id, delivery.id, delivery.sequence, delivery.due_at
      FROM "webhook_delivery" AS delivery
      JOIN "webhook_endpoint" AS endpoint ON endpoint.id = delivery.endpoint_id
      WHERE endpoint.ordered AND endpoint.deleted_at IS NULL AND delivery.status = 'pending'
      ORDER BY delivery.endpoint_id, delivery.object_id, delivery.sequence, delivery.id
    `);
    await queryRunner.query(`
      CREATE INDEX "webhook_head_delivery_index" ON "webhook_head" ("delivery_id")
    `);
    await queryRunner.query(`
      CREATE INDEX "webhook_head_due_index" ON "webhook_head" ("endpoint_id", "due_at")
    `);
    await queryRunner.query(`
      ALTER TABLE "webhook_head"
      ADD CONSTRAINT "webhook_head_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "webhook_head"
      ADD CONSTRAINT "webhook_head_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_delivery"("id") ON DELETE CASCADE ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      CREATE INDEX "event_undispatched_object_index" ON "event" ("object_id", "sequence")
      WHERE COALESCE("dispatched_at", 'infinity') = 'infinity'
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "event_undispatched_object_index"');
    await queryRunner.query('DROP TABLE "webhook_head"');
  }
}
