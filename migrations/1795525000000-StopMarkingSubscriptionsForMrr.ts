import type { MigrationInterface, QueryRunner } from 'typeorm';

const CHANGED = ['status', 'plan_version_id', 'quantity', 'addons']
  .map((column) => `OLD."${column}" IS DISTINCT FROM NEW."${column}"`)
  .join(' OR ');

/**
 * Stops marking changed subscriptions as pending. The mark is not needed any more, because the previous release also
 * records the revenue in the commit of each change. The table stays, because the previous release deletes rows from it.
 */
export class StopMarkingSubscriptionsForMrr1795525000000 implements MigrationInterface {
  readonly name = 'StopMarkingSubscriptionsForMrr1795525000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER "subscription_mrr_pending" ON "subscription"');
    await queryRunner.query('DROP FUNCTION "mrr_pending_after_change"');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
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
}
