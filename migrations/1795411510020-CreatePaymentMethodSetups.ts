import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Setups: a customer enters a payment method at a provider, without a charge. */
export class CreatePaymentMethodSetups1795411510020 implements MigrationInterface {
  readonly name = 'CreatePaymentMethodSetups1795411510020';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "payment_method_setup" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "version" integer NOT NULL,
        "customer_id" character varying(40) COLLATE "C" NOT NULL,
        "provider" character varying(20) NOT NULL,
        "provider_reference" character varying(255) NOT NULL,
        "status" character varying(20) NOT NULL,
        "is_default" boolean,
        "payment_method_id" character varying(40) COLLATE "C",
        "failure_code" character varying(100),
        "expires_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "due_at" TIMESTAMP(3) WITH TIME ZONE,
        "leased_by" integer,
        "attempts" integer NOT NULL DEFAULT '0',
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "payment_method_setup_pkey" PRIMARY KEY ("id"),
        CONSTRAINT "payment_method_setup_status_check" CHECK ("status" IN ('pending', 'succeeded', 'failed', 'expired')),
        CONSTRAINT "payment_method_setup_due_check" CHECK (("due_at" IS NOT NULL) = ("status" = 'pending')),
        CONSTRAINT "payment_method_setup_method_check" CHECK (("payment_method_id" IS NOT NULL) = ("status" = 'succeeded')),
        CONSTRAINT "payment_method_setup_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id"),
        CONSTRAINT "payment_method_setup_payment_method_id_fkey" FOREIGN KEY ("payment_method_id") REFERENCES "payment_method" ("id")
      )`);
    await queryRunner.query(`
      CREATE INDEX "payment_method_setup_owner_index" ON "payment_method_setup" ("customer_id", "id")`);
    await queryRunner.query(`
      CREATE INDEX "payment_method_setup_method_index" ON "payment_method_setup" ("payment_method_id")
      WHERE "payment_method_id" IS NOT NULL`);
    for (const column of ['due_at', 'leased_by']) {
      const name = column === 'due_at' ? 'due' : column;
      await queryRunner.query(
        `CREATE INDEX "payment_method_setup_${name}_index" ON "payment_method_setup" ("${column}") WHERE "${column}" IS NOT NULL`,
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "payment_method_setup"');
  }
}
