import type { Client } from 'pg';

interface Bytes {
  readonly heap: number;
  readonly toast: number;
  readonly indexes: number;
}

/** Bytes of each table on disk, by name, including its partitions. */
export type TableBytes = ReadonlyMap<string, Bytes>;

const BYTES = `
  SELECT coalesce(parent.relname, own.relname) AS name, sum(pg_relation_size(own.oid))::float8 AS heap,
    sum(coalesce(pg_total_relation_size(nullif(own.reltoastrelid, 0)), 0))::float8 AS toast,
    sum(pg_indexes_size(own.oid))::float8 AS indexes
  FROM pg_class AS own LEFT JOIN pg_inherits ON inhrelid = own.oid LEFT JOIN pg_class AS parent ON parent.oid = inhparent
  WHERE own.relnamespace = 'public'::regnamespace AND own.relkind = 'r' GROUP BY 1`;

export async function bytesOf(client: Client): Promise<TableBytes> {
  const { rows } = await client.query<Bytes & { readonly name: string }>(BYTES);
  return new Map(rows.map(({ name, ...bytes }) => [name, bytes]));
}

export function grownBetween(before: TableBytes, after: TableBytes): TableBytes {
  return new Map(
    [...after].map(([name, { heap, toast, indexes }]) => {
      const former = before.get(name) ?? { heap: 0, toast: 0, indexes: 0 };
      return [
        name,
        {
          heap: heap - former.heap,
          toast: toast - former.toast,
          indexes: indexes - former.indexes,
        },
      ];
    }),
  );
}

export function totalOf(tables: TableBytes): number {
  return [...tables.values()].reduce((sum, bytes) => sum + sumOf(bytes), 0);
}

/** Prints the tables that have grown, the largest first, in bytes for each item. */
export function printGrowth(grown: TableBytes, items: number): void {
  const each = (bytes: number): string => Math.round(bytes / items).toString();
  const tables = [...grown].filter(([, bytes]) => sumOf(bytes) >= items);
  for (const [name, bytes] of tables.sort(([, a], [, b]) => sumOf(b) - sumOf(a))) {
    const { heap, toast, indexes } = bytes;
    console.log(
      `${name}: ${each(sumOf(bytes))} B stored, rows ${each(heap + toast)}, indexes ${each(indexes)}`,
    );
  }
}

function sumOf({ heap, toast, indexes }: Bytes): number {
  return heap + toast + indexes;
}
