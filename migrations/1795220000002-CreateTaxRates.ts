import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tax rates, and which of them each customer has. */
export class CreateTaxRates1795220000002 implements MigrationInterface {
  readonly name = 'CreateTaxRates1795220000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "tax_rate" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "name" character varying(200) NOT NULL,
          "percentage" numeric NOT NULL,
          "inclusive" boolean NOT NULL,
          "country" character(2),
          "is_active" boolean NOT NULL DEFAULT true,
          "metadata" jsonb NOT NULL,
          "archived_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "tax_rate_percentage_check" CHECK ("percentage" BETWEEN 0 AND 100),
          CONSTRAINT "tax_rate_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      ALTER TABLE "customer"
      ADD COLUMN "tax_rate_ids" character varying(40) array NOT NULL DEFAULT '{}'
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "customer" DROP COLUMN "tax_rate_ids"');
    await queryRunner.query('DROP TABLE "tax_rate"');
  }
}
