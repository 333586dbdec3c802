import { Client } from 'pg';

const COLUMNS = `
  SELECT format('column %s.%s %s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    CASE WHEN l.collname NOT IN ('default') THEN ' COLLATE ' || l.collname END,
    CASE WHEN a.attnotnull THEN ' NOT NULL' END,
    ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)) AS line
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
  LEFT JOIN pg_collation l ON l.oid = a.attcollation
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname <> 'migration'
    AND a.attnum > 0 AND NOT a.attisdropped AND NOT c.relispartition`;

// Leaves out NOT NULL, which is a constraint from PostgreSQL 18 on. The lines of columns show it for all versions.
const CONSTRAINTS = `
  SELECT format('constraint %s.%s %s', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid)) AS line
  FROM pg_constraint JOIN pg_class c ON c.oid = conrelid AND NOT c.relispartition
  WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    AND conrelid::regclass::text <> 'migration'`;

const INDEXES = `
  SELECT format('index %s', replace(indexdef, ' ON ONLY ', ' ON ')) AS line
  FROM pg_indexes JOIN pg_class c ON c.oid = format('%I', tablename)::regclass AND NOT c.relispartition
  WHERE schemaname = 'public' AND tablename <> 'migration'`;

const TRIGGERS = `
  SELECT format('trigger %s', pg_get_triggerdef(t.oid)) AS line
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal`;

const ROUTINES = `
  SELECT format('routine %s', oid::regprocedure) AS line
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace`;

/**
 * Returns true if a line describes an object that TypeORM entities cannot define: a trigger or its function, a
 * constraint trigger, or an index of certain kinds or expressions.
 */
export function isBeyondEntities(line: string): boolean {
  return /^(trigger|routine) |^constraint \S+ TRIGGER|^index [^]*(gin_trgm_ops|#>>|"left"|lower\(|jsonb_hash_extended|hashtext|COALESCE\()/.test(
    line,
  );
}

/** Describes the schema of a database, one line per object, sorted, without the migration table and partitions. */
export async function catalogueOf(url: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(
      [COLUMNS, CONSTRAINTS, INDEXES, TRIGGERS, ROUTINES].join(' UNION ALL '),
    );
    return rows.map(({ line }) => line).sort();
  } finally {
    await client.end();
  }
}
