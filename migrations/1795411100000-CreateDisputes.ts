import type { MigrationInterface, QueryRunner } from 'typeorm';

const FORMER_KINDS = [
  'invoice_finalized',
  'payment',
  'refund',
  'credit_note',
  'void',
  'write_off',
  'recovery',
  'revenue_release',
  'credit_applied',
];

const NEW_KINDS = ['dispute_withdrawn', 'dispute_reinstated', 'dispute_lost'];

/**
 * Disputes about payments, how much of the payments is still refundable, and how much credit disputes take. The next
 * migration validates the new checks of large tables, without blocking writers.
 */
export class CreateDisputes1795411100000 implements MigrationInterface {
  readonly name = 'CreateDisputes1795411100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "dispute" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "version" integer NOT NULL,
        "customer_id" character varying(40) COLLATE "C" NOT NULL,
        "payment_id" character varying(40) COLLATE "C" NOT NULL,
        "provider" character varying(20) NOT NULL,
        "provider_reference" character varying(255) NOT NULL,
        "status" character varying(20) NOT NULL,
        "reason" character varying(100),
        "amount" bigint NOT NULL,
        "currency" character(3) NOT NULL,
        "amount_withdrawn" bigint NOT NULL DEFAULT '0',
        "amount_reinstated" bigint NOT NULL DEFAULT '0',
        "amount_lost" bigint NOT NULL DEFAULT '0',
        "is_refundable" boolean NOT NULL,
        "evidence_due_at" TIMESTAMP(3) WITH TIME ZONE,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "dispute_pkey" PRIMARY KEY ("id"),
        CONSTRAINT "dispute_reference_unique" UNIQUE ("provider", "provider_reference"),
        CONSTRAINT "dispute_status_check" CHECK ("status" IN ('inquiry', 'open', 'won', 'lost', 'closed')),
        CONSTRAINT "dispute_amount_check" CHECK ("amount" >= 1 AND "amount" <= 9007199254740991),
        CONSTRAINT "dispute_funds_check" CHECK ("amount_reinstated" >= 0 AND "amount_lost" >= 0 AND "amount_reinstated" + "amount_lost" <= "amount_withdrawn"),
        CONSTRAINT "dispute_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id"),
        CONSTRAINT "dispute_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment" ("id")
      )
    `);
    for (const column of ['customer', 'payment']) {
      await queryRunner.query(
        `CREATE INDEX "dispute_${column}_index" ON "dispute" ("${column}_id", "id")`,
      );
    }
    await queryRunner.query('CREATE INDEX "dispute_status_index" ON "dispute" ("status", "id")');
    await queryRunner.query(`
      ALTER TABLE "payment"
        ADD "amount_lost" bigint NOT NULL DEFAULT '0',
        ADD "is_disputed" boolean NOT NULL DEFAULT false,
        ADD CONSTRAINT "payment_lost_check" CHECK ("amount_lost" >= 0) NOT VALID
    `);
    await queryRunner.query(`
      ALTER TABLE "credit_grant"
        ADD "lost" bigint NOT NULL DEFAULT '0',
        DROP CONSTRAINT "credit_grant_remaining_check",
        ADD CONSTRAINT "credit_grant_remaining_check" CHECK ("remaining" >= 0 AND "reserved" >= 0 AND "refunded" >= 0 AND "lost" >= 0 AND "remaining" + "reserved" + "refunded" + "lost" <= "amount") NOT VALID
    `);
    await allowKinds(queryRunner, [...FORMER_KINDS, ...NEW_KINDS], 'NOT VALID');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await allowKinds(queryRunner, FORMER_KINDS, '');
    await queryRunner.query(`
      ALTER TABLE "credit_grant"
        DROP CONSTRAINT "credit_grant_remaining_check",
        ADD CONSTRAINT "credit_grant_remaining_check" CHECK ("remaining" >= 0 AND "reserved" >= 0 AND "refunded" >= 0 AND "remaining" + "reserved" + "refunded" <= "amount"),
        DROP "lost"
    `);
    await queryRunner.query('ALTER TABLE "payment" DROP "is_disputed", DROP "amount_lost"');
    await queryRunner.query('DROP TABLE "dispute"');
  }
}

async function allowKinds(
  queryRunner: QueryRunner,
  kinds: readonly string[],
  validity: 'NOT VALID' | '',
): Promise<void> {
  const list = kinds.map((kind) => `'${kind}'`).join(', ');
  await queryRunner.query(`
    ALTER TABLE "ledger_transaction"
      DROP CONSTRAINT "ledger_transaction_kind_check",
      ADD CONSTRAINT "ledger_transaction_kind_check" CHECK ("kind" IN (${list})) ${validity}
  `);
}
