import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows never change, and the statements that are refused. */
const IMMUTABLE = [
  ['plan_version', 'UPDATE OR DELETE OR TRUNCATE'],
  ['price', 'UPDATE OR DELETE OR TRUNCATE'],
  ['plan_entitlement', 'UPDATE OR DELETE OR TRUNCATE'],
  ['shared_trace', 'UPDATE OR DELETE OR TRUNCATE'],
  // The data of test clocks can be deleted.
  ['invoice_snapshot', 'UPDATE OR TRUNCATE'],
  ['mrr_change', 'UPDATE OR TRUNCATE'],
] as const;

/** Columns that never change, in tables with other columns that do. */
const TERMS = [
  ['tax_rate', ['percentage', 'inclusive']],
  ['entitlement', ['key', 'type', 'meter_id']],
  ['meter', ['event_name', 'aggregation', 'value_property', 'filters', 'group_by', 'is_recurring']],
  [
    'coupon',
    ['type', 'percent_off', 'amount_off', 'currency', 'duration', 'duration_in_months', 'plan_ids'],
  ],
] as const;

/**
 * Refuses changes of terms that were sold, and of data that invoices and events refer to: prices, plan versions, terms
 * of coupons, tax rates, meters and features, shared traces, snapshots of invoices, and packs of events.
 */
export class RefuseChangesOfTerms1795540000002 implements MigrationInterface {
  readonly name = 'RefuseChangesOfTerms1795540000002';
  /** Each statement commits by itself: a transaction that locks several tables could deadlock with requests. */
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION '% of % is refused: what it would change never changes', TG_OP, TG_TABLE_NAME
          USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
      END $$
    `);
    for (const [table, statements] of IMMUTABLE) {
      await queryRunner.query(`
        CREATE OR REPLACE TRIGGER "${table}_immutable" BEFORE ${statements} ON "${table}"
        FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"()
      `);
    }
    for (const [table, columns] of TERMS) {
      const of = (row: string): string => columns.map((column) => `${row}."${column}"`).join(', ');
      await queryRunner.query(`
        CREATE OR REPLACE TRIGGER "${table}_immutable" BEFORE UPDATE ON "${table}" FOR EACH ROW
        WHEN ((${of('OLD')}) IS DISTINCT FROM (${of('NEW')})) EXECUTE FUNCTION "refuse_change"()
      `);
    }
    await this.keepSnapshots(queryRunner);
    await this.keepPacks(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    for (const [trigger, table] of [
      ['event_pack_truncated', 'event_pack'],
      ['event_pack_kept', 'event_pack'],
      ['invoice_snapshot_kept', 'invoice_snapshot'],
      ...[...IMMUTABLE, ...TERMS].map(([name]) => [`${name}_immutable`, name]),
    ]) {
      await queryRunner.query(`DROP TRIGGER "${trigger}" ON "${table}"`);
    }
    for (const name of ['keep_event_pack', 'keep_invoice_snapshot', 'refuse_change']) {
      await queryRunner.query(`DROP FUNCTION "${name}"`);
    }
  }

  /** Refuses deleting snapshots of invoices, except those of customers on a test clock. The ledger has the same rule. */
  private async keepSnapshots(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION "keep_invoice_snapshot"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF EXISTS (SELECT FROM customer WHERE id = OLD.customer_id AND test_clock_id IS NOT NULL) THEN
          RETURN OLD;
        END IF;
        RAISE EXCEPTION 'The snapshot % of the customer % is kept for its invoices', OLD.id, OLD.customer_id
          USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
      END $$
    `);
    await queryRunner.query(`
      CREATE OR REPLACE TRIGGER "invoice_snapshot_kept" BEFORE DELETE ON "invoice_snapshot"
      FOR EACH ROW EXECUTE FUNCTION "keep_invoice_snapshot"()
    `);
  }

  /** Refuses changes of the data of stored events. Only the data of deleted events can be removed. */
  private async keepPacks(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION "keep_event_pack"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'DELETE' THEN
          IF NOT EXISTS (SELECT FROM event WHERE pack_id = OLD.id) THEN
            RETURN OLD;
          END IF;
        ELSIF NEW.id = OLD.id AND NOT EXISTS (
          SELECT FROM event
            JOIN unnest(OLD.data, NEW.data) WITH ORDINALITY AS entry (before, after, place) ON place = pack_place
          WHERE pack_id = OLD.id AND after::text IS DISTINCT FROM before::text
        ) THEN
          RETURN NEW;
        END IF;
        RAISE EXCEPTION '% of the pack % is refused: it has data of stored events', TG_OP, OLD.id
          USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
      END $$
    `);
    await queryRunner.query(`
      CREATE OR REPLACE TRIGGER "event_pack_kept" BEFORE UPDATE OR DELETE ON "event_pack"
      FOR EACH ROW EXECUTE FUNCTION "keep_event_pack"()
    `);
    await queryRunner.query(`
      CREATE OR REPLACE TRIGGER "event_pack_truncated" BEFORE TRUNCATE ON "event_pack"
      FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"()
    `);
  }
}
