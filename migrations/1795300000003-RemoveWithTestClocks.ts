import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Allows deleting data of customers on a test clock: their ledger transactions with all postings, and the deliveries of
 * their events. For all other customers, the ledger stays append-only.
 */
export class RemoveWithTestClocks1795300000003 implements MigrationInterface {
  readonly name = 'RemoveWithTestClocks1795300000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await this.letBooksGoWithTestClocks(queryRunner);
    for (const [table, column, target] of CASCADES) {
      await this.refer(queryRunner, table, column, target, 'CASCADE');
    }
    await queryRunner.query(
      'CREATE INDEX "webhook_delivery_event_index" ON "webhook_delivery" ("event_id")',
    );
    await queryRunner.query(`
      CREATE INDEX "invoice_line_credits_line_index" ON "invoice_line" ("credits_line_id")
      WHERE "credits_line_id" IS NOT NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "invoice_line_credits_line_index"');
    await queryRunner.query('DROP INDEX "webhook_delivery_event_index"');
    for (const [table, column, target] of CASCADES) {
      await this.refer(queryRunner, table, column, target, 'NO ACTION');
    }
    await queryRunner.query('DROP TRIGGER "ledger_posting_removed_whole" ON "ledger_posting"');
    for (const table of BOOKS) {
      await queryRunner.query(`DROP TRIGGER "${table}_removal" ON "${table}"`);
      await this.refuse(queryRunner, table, 'UPDATE OR DELETE OR TRUNCATE');
    }
    await queryRunner.query('DROP FUNCTION "ledger_refuse_partial_removal"');
    await queryRunner.query('DROP FUNCTION "ledger_refuse_removal"');
  }

  private async letBooksGoWithTestClocks(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION "ledger_refuse_removal"() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        removed varchar := to_jsonb(OLD) ->> TG_ARGV[0];
      BEGIN
        IF EXISTS (
          SELECT FROM ledger_transaction JOIN customer ON customer.id = customer_id
          WHERE ledger_transaction.id = removed AND test_clock_id IS NOT NULL
        ) THEN
          RETURN OLD;
        END IF;
        RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
          USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ledger_append_only';
      END
      $$
    `);
    await queryRunner.query(`
      CREATE FUNCTION "ledger_refuse_partial_removal"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF EXISTS (SELECT FROM ledger_transaction WHERE id = OLD.transaction_id) THEN
          RAISE EXCEPTION 'the ledger transaction % is removed as a whole', OLD.transaction_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ledger_balanced';
        END IF;
        RETURN NULL;
      END
      $$
    `);
    for (const table of BOOKS) {
      const column = table === 'ledger_transaction' ? 'id' : 'transaction_id';
      await this.refuse(queryRunner, table, 'UPDATE OR TRUNCATE');
      await queryRunner.query(`
        CREATE TRIGGER "${table}_removal" BEFORE DELETE ON "${table}"
        FOR EACH ROW EXECUTE FUNCTION "ledger_refuse_removal"('${column}')
      `);
    }
    await queryRunner.query(`
      CREATE CONSTRAINT TRIGGER "ledger_posting_removed_whole" AFTER DELETE ON "ledger_posting"
      DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION "ledger_refuse_partial_removal"()
    `);
  }

  private async refuse(queryRunner: QueryRunner, table: string, changes: string): Promise<void> {
    await queryRunner.query(`DROP TRIGGER IF EXISTS "${table}_append_only" ON "${table}"`);
    await queryRunner.query(`
      CREATE TRIGGER "${table}_append_only" BEFORE ${changes} ON "${table}"
      FOR EACH STATEMENT EXECUTE FUNCTION "ledger_refuse_change"()
    `);
  }

  private async refer(
    queryRunner: QueryRunner,
    table: string,
    column: string,
    target: string,
    onDelete: string,
  ): Promise<void> {
    const name = `${table}_${column}_fkey`;
    await queryRunner.query(`ALTER TABLE "${table}" DROP CONSTRAINT "${name}"`);
    await queryRunner.query(`
      ALTER TABLE "${table}" ADD CONSTRAINT "${name}" FOREIGN KEY ("${column}") REFERENCES "${target}" ("id")
      ON DELETE ${onDelete} ON UPDATE NO ACTION
    `);
  }
}

const BOOKS = ['ledger_transaction', 'ledger_posting'];

const CASCADES = [
  ['webhook_delivery', 'event_id', 'event'],
  ['webhook_attempt', 'delivery_id', 'webhook_delivery'],
] as const;
