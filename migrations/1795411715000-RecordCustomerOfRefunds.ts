import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores the customer of each refund, so that lists and events of a customer can show it. A trigger fills it in for
 * refunds that the previous release creates, and for refunds that change before the next migration reaches them.
 */
export class RecordCustomerOfRefunds1795411715000 implements MigrationInterface {
  readonly name = 'RecordCustomerOfRefunds1795411715000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "refund"
        ADD "customer_id" character varying(40) COLLATE "C",
        ADD CONSTRAINT "refund_customer_check" CHECK ("customer_id" IS NOT NULL) NOT VALID,
        ADD CONSTRAINT "refund_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id") NOT VALID
    `);
    await queryRunner.query(`
      CREATE FUNCTION "refund_take_customer"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW."customer_id" := (SELECT "customer_id" FROM "payment" WHERE "id" = NEW."payment_id");
        RETURN NEW;
      END $$
    `);
    await queryRunner.query(`
      CREATE TRIGGER "refund_customer" BEFORE INSERT OR UPDATE ON "refund" FOR EACH ROW
      WHEN (NEW."customer_id" IS NULL) EXECUTE FUNCTION "refund_take_customer"()
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER "refund_customer" ON "refund"');
    await queryRunner.query('DROP FUNCTION "refund_take_customer"()');
    await queryRunner.query(`
      ALTER TABLE "refund"
        DROP CONSTRAINT "refund_customer_id_fkey",
        DROP CONSTRAINT IF EXISTS "refund_customer_check",
        DROP "customer_id"
    `);
  }
}
