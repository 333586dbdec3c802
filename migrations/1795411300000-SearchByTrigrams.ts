import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  customer_search_index: `"customer" USING gin
    (lower(' ' || "name" || ' ' || coalesce("email", '') || ' ' || coalesce("external_id", '')) gin_trgm_ops)
    WHERE "deleted_at" IS NULL`,
  invoice_search_index: `"invoice" USING gin (lower(' ' || "number") gin_trgm_ops) WHERE "number" IS NOT NULL`,
  plan_search_index: `"plan" USING gin (lower(' ' || "code" || ' ' || "name") gin_trgm_ops)`,
  addon_search_index: `"addon" USING gin (lower(' ' || "code" || ' ' || "name") gin_trgm_ops)`,
  coupon_search_index: `"coupon" USING gin (lower(' ' || "code" || ' ' || coalesce("name", '')) gin_trgm_ops)`,
  meter_search_index: `"meter" USING gin (lower(' ' || "key" || ' ' || "name") gin_trgm_ops)`,
};

/** Lets a search find parts of names, numbers and codes. Builds the indexes without blocking writers. */
export class SearchByTrigrams1795411300000 implements MigrationInterface {
  readonly name = 'SearchByTrigrams1795411300000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE EXTENSION IF NOT EXISTS pg_trgm');
    for (const [name, columns] of Object.entries(INDEXES)) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await queryRunner.query(`CREATE INDEX CONCURRENTLY "${name}" ON ${columns}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await queryRunner.query(`DROP INDEX "${name}"`);
    await queryRunner.query('DROP EXTENSION pg_trgm');
  }
}
