import type { MigrationInterface, QueryRunner } from 'typeorm';

const CUSTOMER = `(
  CASE WHEN starts_with("object_id", 'cus_') THEN "object_id"::text ELSE "data" #>> '{object,customer_id}' END)`;

interface ListIndex {
  readonly table: string;
  /** Name of the index without `_index`. */
  readonly name: string;
  readonly columns: string;
  readonly where?: string;
}

const INDEXES: readonly ListIndex[] = [
  { table: 'event', name: 'event_type', columns: '"type"' },
  { table: 'event', name: 'event_type_occurred_at', columns: '"type", "occurred_at"' },
  { table: 'event', name: 'event_occurred_at', columns: '"occurred_at"' },
  { table: 'event', name: 'event_actor', columns: '"actor"', where: '"actor" IS NOT NULL' },
  {
    table: 'event',
    name: 'event_customer',
    columns: CUSTOMER,
    where: `${CUSTOMER} IS NOT NULL`,
  },
  { table: 'ledger_transaction', name: 'ledger_transaction_customer', columns: '"customer_id"' },
  { table: 'ledger_transaction', name: 'ledger_transaction_currency', columns: '"currency"' },
  { table: 'ledger_transaction', name: 'ledger_transaction_kind', columns: '"kind"' },
  { table: 'ledger_transaction', name: 'ledger_transaction_occurred', columns: '"occurred_at"' },
  { table: 'invoice', name: 'invoice_customer', columns: '"customer_id"' },
  { table: 'invoice', name: 'invoice_subscription', columns: '"subscription_id"' },
  { table: 'invoice', name: 'invoice_status', columns: '"status"' },
  { table: 'invoice', name: 'invoice_created', columns: '"created_at"' },
  {
    table: 'invoice',
    name: 'invoice_finalized',
    columns: '"finalized_at"',
    where: '"finalized_at" IS NOT NULL',
  },
  { table: 'invoice', name: 'invoice_due', columns: '"due_at"', where: '"due_at" IS NOT NULL' },
  { table: 'invoice', name: 'invoice_total', columns: '"total"' },
];

const IS_BUILT = `
  SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid`;

const conditionOf = ({ where }: ListIndex): string => (where === undefined ? '' : `WHERE ${where}`);

/**
 * Lets the indexes of large lists end with the first characters of the id, which are its time to 32 ms, instead of the
 * whole id. Rows that are created together then have equal entries, and the index stores such an entry only once.
 */
export class IndexTimesOfIds1795411900200 implements MigrationInterface {
  readonly name = 'IndexTimesOfIds1795411900200';
  readonly transaction = false;

  /**
   * Builds all new indexes before it drops a former one, which the previous release reads. Keeps indexes that an
   * interrupted run has built.
   */
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const index of INDEXES) {
      const { table, name, columns } = index;
      const built = (await queryRunner.query(IS_BUILT, [
        `${name}_time_index`,
      ])) as readonly object[];
      if (built.length > 0) continue;
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}_time_index"`);
      await queryRunner.query(
        `CREATE INDEX CONCURRENTLY "${name}_time_index" ON "${table}" (${columns}, left("id", 13)) ${conditionOf(index)}`,
      );
    }
    for (const { name } of INDEXES) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}_index"`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const index of INDEXES) {
      const { table, name, columns } = index;
      await queryRunner.query(
        `CREATE INDEX "${name}_index" ON "${table}" (${columns}, "id") ${conditionOf(index)}`,
      );
      await queryRunner.query(`DROP INDEX "${name}_time_index"`);
    }
  }
}
