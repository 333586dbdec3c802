import type { MigrationInterface, QueryRunner } from 'typeorm';

const CHANGED = ['status', 'plan_version_id', 'quantity', 'addons']
  .map((column) => `OLD."${column}" IS DISTINCT FROM NEW."${column}"`)
  .join(' OR ');

/**
 * Changes of the monthly recurring revenue. A trigger marks each changed subscription as pending. A process of this
 * release records the change and removes the mark in the same commit. The previous release does not, so this release
 * does it later.
 */
export class CreateMrrChanges1795411520001 implements MigrationInterface {
  readonly name = 'CreateMrrChanges1795411520001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "mrr_change" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "subscription_id" character varying(40) COLLATE "C" NOT NULL,
        "sequence" integer NOT NULL,
        "customer_id" character varying(40) COLLATE "C" NOT NULL,
        "currency" character(3) NOT NULL,
        "kind" character varying(20) NOT NULL,
        "before_minor" bigint NOT NULL,
        "after_minor" bigint NOT NULL,
        "changed_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "is_backfilled" boolean NOT NULL,
        CONSTRAINT "mrr_change_kind_check" CHECK ("kind" IN ('new', 'expansion', 'contraction', 'churn', 'reactivation')),
        CONSTRAINT "mrr_change_sequence_check" CHECK ("sequence" > 0),
        CONSTRAINT "mrr_change_amounts_check" CHECK ("before_minor" <> "after_minor"),
        CONSTRAINT "mrr_change_sequence_unique" UNIQUE ("subscription_id", "sequence"),
        CONSTRAINT "mrr_change_pkey" PRIMARY KEY ("id"),
        CONSTRAINT "mrr_change_subscription_id_fkey"
          FOREIGN KEY ("subscription_id") REFERENCES "subscription" ("id"),
        CONSTRAINT "mrr_change_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id")
      )
    `);
    for (const [name, columns] of Object.entries({
      changed: '"changed_at", "id"',
      currency: '"currency", "id"',
      customer: '"customer_id", "id"',
      kind: '"kind", "id"',
    })) {
      await queryRunner.query(
        `CREATE INDEX "mrr_change_${name}_index" ON "mrr_change" (${columns})`,
      );
    }
    await queryRunner.query(`
      CREATE TABLE "mrr_pending" (
        "subscription_id" character varying(40) COLLATE "C" NOT NULL,
        CONSTRAINT "mrr_pending_pkey" PRIMARY KEY ("subscription_id")
      )
    `);
    await queryRunner.query(`
      CREATE FUNCTION "mrr_pending_after_change"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO mrr_pending VALUES (NEW.id) ON CONFLICT DO NOTHING;
        RETURN NULL;
      END
      $$
    `);
    await queryRunner.query(`
      CREATE TRIGGER "subscription_mrr_pending" AFTER UPDATE ON "subscription" FOR EACH ROW
      WHEN (NEW."test_clock_id" IS NULL AND (${CHANGED}))
      EXECUTE FUNCTION "mrr_pending_after_change"()
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER "subscription_mrr_pending" ON "subscription"');
    await queryRunner.query('DROP FUNCTION "mrr_pending_after_change"');
    await queryRunner.query('DROP TABLE "mrr_pending"');
    await queryRunner.query('DROP TABLE "mrr_change"');
  }
}
