import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Customers. */
export class CreateCustomers1795210000003 implements MigrationInterface {
  readonly name = 'CreateCustomers1795210000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "customer" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "name" character varying(200) NOT NULL,
          "email" character varying(320),
          "external_id" character varying(255),
          "currency" character(3),
          "currency_locked" boolean NOT NULL DEFAULT false,
          "timezone" character varying(64) NOT NULL,
          "address" jsonb,
          "tax_exempt" character varying(10) NOT NULL,
          "metadata" jsonb NOT NULL,
          "deleted_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "customer_tax_exempt_check" CHECK ("tax_exempt" IN ('none', 'exempt', 'reverse')),
          CONSTRAINT "customer_currency_check" CHECK (
              NOT "currency_locked"
              OR "currency" IS NOT NULL
          ),
          CONSTRAINT "customer_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "customer_email_index" ON "customer" ("email", "id")
      WHERE "deleted_at" IS NULL
    `);
    await queryRunner.query(`
      CREATE UNIQUE INDEX "customer_external_id_unique" ON "customer" ("external_id")
      WHERE "deleted_at" IS NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "customer"');
  }
}
