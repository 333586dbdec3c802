import type { MigrationInterface, QueryRunner } from 'typeorm';

const PARTITIONS = 16;

/**
 * Meters, usage events and their running totals. Events are partitioned by the digest of their idempotency key, so that
 * a key is unique even among events of different times. `usage_stream` has one row for all events of one name of one
 * customer. A transaction that stores or bills such events locks this row, which puts them in an order.
 */
export class CreateMetering1795330000001 implements MigrationInterface {
  readonly name = 'CreateMetering1795330000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "meter" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "key" character varying(64) NOT NULL,
          "name" character varying(200) NOT NULL,
          "event_name" character varying(100) COLLATE "C" NOT NULL,
          "aggregation" character varying(20) NOT NULL,
          "value_property" character varying(100),
          "filters" jsonb NOT NULL,
          "group_by" jsonb NOT NULL,
          "late_events" character varying(20) NOT NULL,
          "is_recurring" boolean NOT NULL,
          "archived_at" TIMESTAMP(3) WITH TIME ZONE,
          "metadata" jsonb NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "meter_key_unique" UNIQUE ("key"),
          CONSTRAINT "meter_recurring_check" CHECK (NOT "is_recurring" OR "aggregation" = 'weighted_sum'),
          CONSTRAINT "meter_late_events_check" CHECK ("late_events" IN ('next_invoice', 'reject')),
          CONSTRAINT "meter_value_property_check" CHECK (("aggregation" = 'count') = ("value_property" IS NULL)),
          CONSTRAINT "meter_aggregation_check" CHECK ("aggregation" IN ('count', 'sum', 'max', 'unique', 'latest', 'weighted_sum')),
          CONSTRAINT "meter_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "meter_event_name_index" ON "meter" ("event_name")
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_stream" (
          "id" bigint GENERATED ALWAYS AS IDENTITY,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "event_name" character varying(100) COLLATE "C" NOT NULL,
          "last_position" bigint NOT NULL,
          CONSTRAINT "usage_stream_position_check" CHECK ("last_position" >= 0),
          CONSTRAINT "usage_stream_customer_event_unique" UNIQUE ("customer_id", "event_name"),
          CONSTRAINT "usage_stream_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id"),
          CONSTRAINT "usage_stream_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_event" (
          "key_digest" uuid NOT NULL,
          "stream_id" bigint NOT NULL,
          "position" bigint NOT NULL,
          "occurred_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "received_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "voided_at" TIMESTAMP(3) WITH TIME ZONE,
          "voided_position" bigint,
          "idempotency_key" character varying(255) COLLATE "C" NOT NULL,
          "properties" jsonb NOT NULL,
          CONSTRAINT "usage_event_voided_check" CHECK (("voided_at" IS NULL) = ("voided_position" IS NULL) AND "voided_position" > "position"),
          CONSTRAINT "usage_event_pkey" PRIMARY KEY ("key_digest")
      ) PARTITION BY HASH ("key_digest")
    `);
    for (let part = 0; part < PARTITIONS; part += 1) {
      await queryRunner.query(`
        CREATE TABLE "usage_event_${part}" PARTITION OF "usage_event"
        FOR VALUES WITH (MODULUS ${PARTITIONS}, REMAINDER ${part})
      `);
    }
    await queryRunner.query(`
      CREATE INDEX "usage_event_stream_index" ON "usage_event" ("stream_id", "occurred_at")
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_tally" (
          "stream_id" bigint NOT NULL,
          "hour" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "accepted" bigint NOT NULL,
          "duplicates" bigint NOT NULL,
          "rejected" bigint NOT NULL,
          CONSTRAINT "usage_tally_check" CHECK ("accepted" >= 0 AND "duplicates" >= 0 AND "rejected" >= 0),
          CONSTRAINT "usage_tally_pkey" PRIMARY KEY ("stream_id", "hour")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_bucket" (
          "stream_id" bigint NOT NULL,
          "meter_id" character varying(40) COLLATE "C" NOT NULL,
          "group_key" character varying(1000) COLLATE "C" NOT NULL,
          "start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "end_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "events" bigint NOT NULL,
          "total" numeric NOT NULL,
          "greatest" numeric,
          "latest" numeric,
          "latest_at" TIMESTAMP(3) WITH TIME ZONE,
          "latest_position" bigint,
          "held_ms" numeric NOT NULL,
          "distinct_values" bigint NOT NULL,
          CONSTRAINT "usage_bucket_check" CHECK ("start_at" < "end_at" AND "events" >= 0 AND "distinct_values" >= 0),
          CONSTRAINT "usage_bucket_pkey" PRIMARY KEY ("stream_id", "meter_id", "start_at", "end_at", "group_key")
      ) WITH (fillfactor = 70)
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_distinct_value" (
          "stream_id" bigint NOT NULL,
          "meter_id" character varying(40) COLLATE "C" NOT NULL,
          "start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "end_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "group_key" character varying(1000) COLLATE "C" NOT NULL,
          "value_digest" uuid NOT NULL,
          CONSTRAINT "usage_distinct_value_pkey" PRIMARY KEY ("stream_id", "meter_id", "start_at", "end_at", "group_key", "value_digest")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_window" (
          "stream_id" bigint NOT NULL,
          "meter_id" character varying(40) COLLATE "C" NOT NULL,
          "start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "end_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "usage_window_check" CHECK ("start_at" < "end_at"),
          CONSTRAINT "usage_window_stream_id_fkey" FOREIGN KEY ("stream_id") REFERENCES "usage_stream" ("id"),
          CONSTRAINT "usage_window_meter_id_fkey" FOREIGN KEY ("meter_id") REFERENCES "meter" ("id"),
          CONSTRAINT "usage_window_pkey" PRIMARY KEY ("stream_id", "meter_id", "start_at", "end_at")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_billed" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "stream_id" bigint NOT NULL,
          "meter_id" character varying(40) COLLATE "C" NOT NULL,
          "item_id" character varying(40) COLLATE "C" NOT NULL,
          "period_start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "period_end_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "group_key" character varying(1000) COLLATE "C" NOT NULL,
          "quantity" numeric NOT NULL,
          "events" bigint NOT NULL,
          "up_to_position" bigint NOT NULL,
          "invoice_line_id" character varying(40) COLLATE "C",
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "usage_billed_check" CHECK ("period_start_at" < "period_end_at"),
          CONSTRAINT "usage_billed_stream_id_fkey" FOREIGN KEY ("stream_id") REFERENCES "usage_stream" ("id"),
          CONSTRAINT "usage_billed_meter_id_fkey" FOREIGN KEY ("meter_id") REFERENCES "meter" ("id"),
          CONSTRAINT "usage_billed_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "usage_billed_stream_index" ON "usage_billed" ("stream_id", "meter_id", "period_end_at")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of [
      'usage_billed',
      'usage_window',
      'usage_distinct_value',
      'usage_bucket',
      'usage_tally',
      'usage_event',
      'usage_stream',
      'meter',
    ]) {
      await queryRunner.query(`DROP TABLE "${table}"`);
    }
  }
}
