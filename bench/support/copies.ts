import type { Client } from 'pg';
import { runSql, type TemporaryDatabase } from './temporary-database';

/** Tables with the data of a customer. A table comes after those that it refers to. */
const TABLES = [
  'customer',
  'subscription',
  'subscription_item',
  'subscription_period',
  'coupon_redemption',
  'invoice_snapshot',
  'invoice',
  'invoice_line',
  'released_line',
  'credit_note',
  'credit_grant',
  'payment',
  'refund',
  'mrr_change',
  'ledger_transaction',
  'ledger_posting',
  'event',
  'event_pack',
] as const;

/** Prefixes of the ids that differ between copies. Ids of plans, prices and coupons are the same in all copies. */
const OWN_PREFIXES = 'cus,sub,si,sp,red,inv,il,cn,crd,pay,ref,mrrc,ltx,evt';

/** Conditions for the rows to copy, in tables that also have rows of no customer. Other tables are copied as a whole. */
const TEMPLATES: Readonly<Record<string, string>> = {
  event: `WHERE ${isOwn('object_id')}`,
  event_pack: 'WHERE id IN (SELECT pack_id FROM template_event)',
};

const TAG_LENGTH = 10;

/**
 * Returns SQL for eight letters that look like a word. They come from a digest of the number of the copy, so that
 * copies have different names.
 */
const word = (from: number): string =>
  `initcap(translate(substr(md5(copy.n::text), ${from}, 8), '0123456789', 'aeioulnrst'))`;

/** Columns whose values differ between copies: unique values, and texts that people search for. */
const OWN_VALUES: Readonly<Record<string, string>> = {
  'customer.name': `${word(1)} || ' ' || ${word(9)}`,
  'customer.email': `lower(${word(1)}) || '@example.com'`,
  'credit_note.lines': `(SELECT jsonb_agg(line || jsonb_build_object('lineId', ${copiedId(`(line ->> 'lineId')`)}))
    FROM jsonb_array_elements(original.lines) AS line)`,
  'refund.idempotency_key': `original.idempotency_key || '-' || copy.n`,
  'event.pack_id': copiedPack('pack_id'),
  'event_pack.id': copiedPack('id'),
};

/** Columns that differ if the copies are real customers. Their invoice numbers must have no gap. */
const REAL: Readonly<Record<string, string>> = {
  'invoice.number': copiedNumber('INV', 'invoice'),
  'credit_note.number': copiedNumber('CN', 'credit_note'),
};

/**
 * Makes the copies with the numbers from `first` to `last`: each copies all rows of the template customers, with new
 * ids. In these ids, the number of the copy takes the place of the time. Triggers and foreign keys are not checked,
 * because a copy of consistent rows is consistent.
 * @param clockId test clock of the copies; null: they are real customers
 */
export async function copyCustomers(
  client: Client,
  first: number,
  last: number,
  clockId: string | null = null,
): Promise<void> {
  const ofCopies = { ...OWN_VALUES, ...(clockId === null ? REAL : onClock(clockId)) };
  await client.query(`SET session_replication_role = 'replica'`);
  for (const table of TABLES) {
    await client.query(`
      CREATE TEMPORARY TABLE IF NOT EXISTS template_${table} AS
      SELECT * FROM ${table} ${TEMPLATES[table] ?? ''}`);
  }
  for (const table of TABLES) {
    // Customers on a test clock have no MRR.
    if (clockId !== null && table === 'mrr_change') continue;
    const { rows } = await client.query<{ name: string; is_id: boolean }>(
      `SELECT attname AS name, atttypid = 'varchar'::regtype AND atttypmod = 44 AS is_id
       FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
       ORDER BY attnum`,
      [table],
    );
    const values = rows.map(({ name, is_id: isId }) => {
      const column = `original."${name}"`;
      return ofCopies[`${table}.${name}`] ?? (isId ? copiedId(column) : column);
    });
    await client.query(
      `INSERT INTO ${table} SELECT ${values.join(', ')}
       FROM generate_series($1::integer, $2::integer) AS copy (n) CROSS JOIN template_${table} AS original`,
      [first, last],
    );
  }
  if (clockId === null) await advanceSeries(client, last - first + 1);
  await client.query(`SET session_replication_role = 'origin'`);
  await client.query(`
    UPDATE coupon SET times_redeemed =
      (SELECT count(*) FROM coupon_redemption WHERE coupon_id = coupon.id)`);
  await client.query(`
    DELETE FROM ledger_total;
    INSERT INTO ledger_total (account, currency, part, amount_minor, postings)
      SELECT posting.account, posted.currency, 0, sum(posting.amount_minor), count(*)
      FROM ledger_posting posting JOIN ledger_transaction posted ON posted.id = posting.transaction_id
      GROUP BY posting.account, posted.currency`);
}

/** Columns that differ if the copies are on a test clock. Their invoice numbers may have gaps. */
function onClock(clockId: string): Readonly<Record<string, string>> {
  const id = `'${clockId}'`;
  const number = (series: string): string =>
    `'${series}-' || copy.n || split_part(original.number, '-', 2)`;
  return {
    'customer.test_clock_id': id,
    'subscription.test_clock_id': id,
    'invoice.test_clock_id': id,
    'invoice.number': number('TEST'),
    'credit_note.number': number('TEST-CN'),
  };
}

async function advanceSeries(client: Client, copies: number): Promise<void> {
  for (const [series, table] of [
    ['INV', 'invoice'],
    ['CN', 'credit_note'],
  ] as const) {
    await client.query(
      `UPDATE invoice_series SET next_number = next_number + $2::integer * (SELECT count(number) FROM template_${table})
       WHERE name = $1`,
      [series, copies],
    );
  }
}

/**
 * Returns SQL for the id of a copied row of `event_pack`. The id is negative, so that the sequence `event_pack_id`
 * never makes the same one.
 */
function copiedPack(column: string): string {
  return `-original.${column} - copy.n::bigint * (SELECT max(id) FROM template_event_pack)`;
}

/**
 * Returns SQL for the number of a copied invoice or credit note. The numbers of the templates start at 1, and the
 * copies continue the series without a gap.
 */
function copiedNumber(series: string, table: string): string {
  const next = `((SELECT next_number - 1 FROM invoice_series WHERE name = '${series}')
    + (copy.n - $1::integer) * (SELECT count(number) FROM template_${table})
    + split_part(original.number, '-', 2)::bigint)::text`;
  // lpad cuts off the end of longer numbers.
  return `'${series}-' || lpad(${next}, greatest(6, length(${next})), '0')`;
}

function isOwn(column: string): string {
  return `split_part(${column}, '_', 1) = ANY ('{${OWN_PREFIXES}}')`;
}

function copiedId(column: string): string {
  const tag = `'00' || lpad(copy.n::text, ${TAG_LENGTH - 2}, '0')`;
  return `CASE WHEN ${isOwn(column)}
    THEN left(${column}, -26) || ${tag} || right(${column}, ${26 - TAG_LENGTH}) ELSE ${column} END`;
}

/**
 * Copies the rows that a customer has in one table to each of the customers `copies`.
 * @param id the customer whose rows are copied
 * @param columns the columns that differ, as arguments of `jsonb_build_object`; `copy.id` is the id of the new customer
 */
export async function copyRows(
  { url }: TemporaryDatabase,
  table: string,
  columns: string,
  id: string,
  copies: readonly string[],
): Promise<void> {
  const key = table === 'customer' ? 'id' : 'customer_id';
  await runSql(
    url,
    `INSERT INTO ${table} SELECT (jsonb_populate_record(original, jsonb_build_object(${columns}))).*
     FROM ${table} AS original CROSS JOIN unnest($2::text[]) AS copy (id) WHERE original.${key} = $1`,
    [id, copies],
  );
}
