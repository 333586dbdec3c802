import { Client } from 'pg';

const MILLION = 1_000_000;

/**
 * Maximum number of rows that a page of a list may sort, by the estimate of the planner. So many can belong to one
 * object.
 */
const MAX_SORTED = 1_000;

const TABLES = `
  SELECT c.oid::regclass::text AS name, relispartition AS is_partition FROM pg_class AS c
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'migration'`;

/**
 * Deletes the statistics of all columns but ids and emails. For each value of an id or an email, the planner expects
 * one row.
 */
const NOT_IDENTIFYING = `
  DELETE FROM pg_statistic USING pg_attribute
  WHERE attrelid = starelid AND attnum = staattnum AND attrelid IN (
      SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
    AND attname !~ '(^|_)(id|email)$'`;

/**
 * Makes the planner believe that every table has a million rows. The planner multiplies the real number of pages by the
 * rows per page in the statistics, so each table gets one page. For one value of an id or an email, the planner then
 * expects one row; for one value of another column, half a percent of the rows. Use this only on a database that is
 * dropped afterwards.
 */
export async function plantMillions(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`SET session_replication_role = 'replica'`);
    const { rows } = await client.query<{ name: string; is_partition: boolean }>(TABLES);
    for (const { name, is_partition: isPartition } of rows) {
      await client.query(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
      await keepOneRow(client, name, isPartition);
    }
    await client.query('ANALYZE');
    await client.query(NOT_IDENTIFYING);
    await client.query(
      `UPDATE pg_class SET reltuples = ${MILLION}, relpages = 1
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`,
    );
  } finally {
    await client.end();
  }
}

/**
 * Reduces a table to one row. An empty table gets a row of invented values. An empty partition stays empty, because it
 * might refuse such a row.
 */
async function keepOneRow(client: Client, table: string, isPartition: boolean): Promise<void> {
  const { rows } = await client.query<{ place: string }>(
    `SELECT ctid AS place FROM ${table} LIMIT 1`,
  );
  if (rows[0] !== undefined) {
    await client.query(`DELETE FROM ${table} WHERE ctid <> $1::tid`, [rows[0].place]);
    return;
  }
  if (isPartition) return;
  const { rows: checks } = await client.query<{ name: string }>(
    `SELECT conname AS name FROM pg_constraint
     WHERE conrelid = $1::regclass AND contype = 'c' AND coninhcount = 0`,
    [table],
  );
  for (const { name } of checks)
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT "${name}"`);
  const { rows: columns } = await client.query<{ name: string; value: string }>(
    `SELECT quote_ident(attname) AS name, CASE
        WHEN typcategory = 'S' THEN '''x'''
        WHEN typcategory = 'N' THEN '1'
        WHEN typcategory = 'B' THEN 'true'
        WHEN typcategory = 'D' THEN 'now()'
        WHEN typcategory = 'A' THEN '''{}'''
        WHEN typname IN ('json', 'jsonb') THEN '''{}'''
        WHEN typname = 'uuid' THEN 'gen_random_uuid()'
        ELSE '''''' END AS value
     FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull
       AND attidentity = '' AND attgenerated = '' ORDER BY attnum`,
    [table],
  );
  await client.query(
    `INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')})
     VALUES (${columns.map(({ value }) => value).join(', ')})`,
  );
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Plan Rows': number;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

export interface ListStatement {
  readonly list: string;
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Runs EXPLAIN for each statement. Returns the steps of the plans that become slower when a table grows. */
export async function plansOf(
  databaseUrl: string,
  statements: readonly ListStatement[],
): Promise<readonly { readonly list: string; readonly fault: string }[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const faults: { list: string; fault: string }[] = [];
    for (const { list, sql, values } of statements) {
      const { rows } = await client.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
        `EXPLAIN (FORMAT JSON) ${sql}`,
        [...values],
      );
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
      if (plan !== undefined) faults.push(...faultsOf(plan).map((fault) => ({ list, fault })));
    }
    return faults;
  } finally {
    await client.end();
  }
}

function faultsOf(node: PlanNode): readonly string[] {
  const below = node.Plans ?? [];
  const own = [];
  const type = node['Node Type'];
  if (type === 'Seq Scan') own.push(`reads all of ${node['Relation Name'] ?? ''}`);
  // An incremental sort reads an index, and sorts only rows with equal values in the index.
  if (type === 'Sort') {
    const sorted = Math.max(...below.map((one) => one['Plan Rows']));
    if (sorted > MAX_SORTED) own.push(`sorts ${sorted} rows`);
  }
  if (type.startsWith('Index') && node.Filter !== undefined && isOfMany(node.Filter)) {
    own.push(`reads ${node['Index Name'] ?? ''} and leaves out ${node.Filter}`);
  }
  return [...own, ...below.flatMap(faultsOf)];
}

/**
 * Returns true if a filter may leave out many rows. Conditions such as `…_at IS NULL` leave out few rows and do not
 * count.
 */
function isOfMany(filter: string): boolean {
  return filter.replaceAll(/\(?\w+ IS (NOT )?NULL\)?/g, '').replaceAll(/[() ]|AND/g, '') !== '';
}
