import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a queue of events that have no deliveries yet. An event is then written only once, and dispatching it only
 * deletes a short row. Existing events, and events that the previous release records, are not in the queue; they are
 * still found by their empty `dispatched_at`.
 */
export class QueueEventsForDispatch1795411400000 implements MigrationInterface {
  readonly name = 'QueueEventsForDispatch1795411400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "event_dispatch" (
        "event_id" character varying(40) COLLATE "C" NOT NULL,
        "type" character varying(80) NOT NULL,
        "object_id" character varying(40) COLLATE "C" NOT NULL,
        "sequence" integer NOT NULL,
        "occurred_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "event_dispatch_pkey" PRIMARY KEY ("event_id"),
        CONSTRAINT "event_dispatch_sequence_check" CHECK ("sequence" > 0)
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)
    `);
    await queryRunner.query(`
      CREATE UNIQUE INDEX "event_dispatch_object_unique" ON "event_dispatch" ("object_id", "sequence")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE "event" SET "dispatched_at" = NULL
      WHERE "id" IN (SELECT "event_id" FROM "event_dispatch")
    `);
    await queryRunner.query('DROP TABLE "event_dispatch"');
  }
}
