import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Test clocks, and the customers attached to them. */
export class CreateTestClocks1795230000001 implements MigrationInterface {
  readonly name = 'CreateTestClocks1795230000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "test_clock" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "name" character varying(200) NOT NULL,
          "instant" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "status" character varying(10) NOT NULL,
          "target_at" TIMESTAMP(3) WITH TIME ZONE,
          "lease_ends_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "test_clock_target_check" CHECK (("status" = 'ready') = ("target_at" IS NULL)),
          CONSTRAINT "test_clock_status_check" CHECK ("status" IN ('ready', 'advancing', 'failed')),
          CONSTRAINT "test_clock_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      ALTER TABLE "customer"
      ADD "test_clock_id" character varying(40) COLLATE "C"
    `);
    await queryRunner.query(`
      ALTER TABLE "customer"
      ADD CONSTRAINT "customer_test_clock_id_fkey" FOREIGN KEY ("test_clock_id") REFERENCES "test_clock"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "customer" DROP COLUMN "test_clock_id"');
    await queryRunner.query('DROP TABLE "test_clock"');
  }
}
