import type { Client } from 'pg';

/** Tables with the data of a customer, referred-to rows first. */
const TABLES = [
  'customer',
  'subscription',
  'subscription_item',
  'subscription_period',
  'coupon_redemption',
  'invoice',
  'invoice_line',
  'ledger_transaction',
  'ledger_posting',
  'event',
] as const;

/** Prefixes of ids that each copy has of its own; ids of plans, prices and coupons stay. */
const OWN_PREFIXES = ['cus', 'sub', 'si', 'sp', 'red', 'inv', 'il', 'ltx', 'evt'];

const TAG_LENGTH = 10;

/** Numbers of invoices are unique. */
const NUMBER = `original.number || '-' || copy.n`;

/**
 * Copies all rows of the template customers, with ids of their own, so that copies from `first` to `last` exist. The ids of a
 * copy begin with its number where ids have their time. Triggers and foreign keys are not checked: a copy of consistent rows
 * is consistent.
 */
export async function copyCustomers(client: Client, first: number, last: number): Promise<void> {
  await client.query(`SET session_replication_role = 'replica'`);
  for (const table of TABLES) {
    await client.query(`
      CREATE TEMPORARY TABLE IF NOT EXISTS template_${table} AS SELECT * FROM ${table}
      ${table === 'event' ? `WHERE ${isOwn('object_id')}` : ''}`);
  }
  for (const table of TABLES) {
    const { rows } = await client.query<{ name: string; is_id: boolean }>(
      `SELECT attname AS name, atttypid = 'varchar'::regtype AND atttypmod = 44 AS is_id
       FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
       ORDER BY attnum`,
      [table],
    );
    const values = rows.map(({ name, is_id: isId }) => {
      if (table === 'invoice' && name === 'number') return NUMBER;
      return isId ? copiedId(`original."${name}"`) : `original."${name}"`;
    });
    await client.query(
      `INSERT INTO ${table} SELECT ${values.join(', ')}
       FROM generate_series($1::integer, $2::integer) AS copy (n) CROSS JOIN template_${table} AS original`,
      [first, last],
    );
  }
  await client.query(`SET session_replication_role = 'origin'`);
  await client.query(`
    UPDATE coupon SET times_redeemed =
      (SELECT count(*) FROM coupon_redemption WHERE coupon_id = coupon.id)`);
}

function isOwn(column: string): string {
  return `split_part(${column}, '_', 1) = ANY ('{${OWN_PREFIXES.join(',')}}')`;
}

function copiedId(column: string): string {
  const tag = `'00' || lpad(copy.n::text, ${TAG_LENGTH - 2}, '0')`;
  return `CASE WHEN ${isOwn(column)}
    THEN left(${column}, -26) || ${tag} || right(${column}, ${26 - TAG_LENGTH}) ELSE ${column} END`;
}
