import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Columns for charges that are prepared before they are confirmed, and for the ids of customers at payment providers. */
export class PrepareCharges1795410900000 implements MigrationInterface {
  readonly name = 'PrepareCharges1795410900000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "payment"
        ADD "provider_attempt" integer NOT NULL DEFAULT 1,
        ADD "sent_at" TIMESTAMP(3) WITH TIME ZONE
    `);
    await queryRunner.query(`
      ALTER TABLE "refund"
        ADD "provider_reference" character varying(255),
        ADD "provider_attempt" integer NOT NULL DEFAULT 1,
        ADD "sent_at" TIMESTAMP(3) WITH TIME ZONE,
        ADD "absent_since" TIMESTAMP(3) WITH TIME ZONE
    `);
    await queryRunner.query(`
      CREATE TABLE "provider_customer" (
        "customer_id" character varying(40) COLLATE "C" NOT NULL,
        "provider" character varying(20) NOT NULL,
        "reference" character varying(255) NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "provider_customer_pkey" PRIMARY KEY ("customer_id", "provider"),
        CONSTRAINT "provider_customer_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id")
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "provider_customer"');
    await queryRunner.query(`
      ALTER TABLE "refund"
        DROP "absent_since", DROP "sent_at", DROP "provider_attempt", DROP "provider_reference"
    `);
    await queryRunner.query('ALTER TABLE "payment" DROP "sent_at", DROP "provider_attempt"');
  }
}
