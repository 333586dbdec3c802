import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payment methods of customers. */
export class CreatePaymentMethods1795310000002 implements MigrationInterface {
  readonly name = 'CreatePaymentMethods1795310000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "payment_method" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "provider" character varying(20) NOT NULL,
          "token" character varying(255) NOT NULL,
          "is_default" boolean NOT NULL,
          "deleted_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "payment_method_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE UNIQUE INDEX "payment_method_default_unique" ON "payment_method" ("customer_id")
      WHERE "is_default"
          AND "deleted_at" IS NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "payment_method_customer_index" ON "payment_method" ("customer_id", "id")
      WHERE "deleted_at" IS NULL
    `);
    await queryRunner.query(`
      ALTER TABLE "payment_method"
      ADD CONSTRAINT "payment_method_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "payment_method"');
  }
}
