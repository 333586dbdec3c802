import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client } from 'pg';

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema?: {
    readonly enum?: readonly string[];
    readonly items?: { readonly enum?: readonly string[] };
    readonly format?: string;
    readonly example?: string;
  };
}

/** Values of filters that no schema lists: of a row in the middle of the table. */
const SAMPLES: Readonly<Record<string, string>> = {
  customer_id: 'SELECT id FROM customer',
  subscription_id: 'SELECT id FROM subscription',
  invoice_id: 'SELECT id FROM invoice',
  source_id: 'SELECT source_id AS id FROM ledger_transaction',
  object_id: 'SELECT object_id AS id FROM event',
  plan_id: 'SELECT plan_id AS id FROM subscription',
};

/** Returns the requests that try each list: without a filter, and with each filter, by a name without ids. */
export async function listQueries(
  client: Client,
): Promise<readonly (readonly [name: string, path: string])[]> {
  const document = JSON.parse(readFileSync(resolve('openapi/openapi.json'), 'utf8')) as {
    readonly paths: Readonly<
      Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>
    >;
  };
  const found: (readonly [string, string])[] = [];
  for (const [path, { get }] of Object.entries(document.paths)) {
    const parameters = get?.parameters ?? [];
    if (path.includes('{') || !parameters.some(({ name }) => name === 'cursor')) continue;
    const required: string[] = [];
    const optional: string[] = [];
    for (const filter of parameters) {
      if (filter.name === 'limit' || filter.name === 'cursor') continue;
      for (const value of await valuesOf(client, filter)) {
        (filter.required === true ? required : optional).push(`${filter.name}=${value}`);
      }
    }
    for (const one of ['', ...optional]) {
      const query = [...required, one].filter(Boolean).join('&');
      const name = `${path.slice(4)} ${query}`.trim().replaceAll(/=\w+_\w{26}/g, '');
      found.push([name, `${path}?${query}`]);
    }
  }
  return found;
}

async function valuesOf(client: Client, { name, schema }: Parameter): Promise<readonly string[]> {
  const choices = schema?.enum ?? schema?.items?.enum;
  if (choices !== undefined) return choices;
  if (schema?.format === 'date-time') return ['2026-01-01T00:00:00Z'];
  if (name === 'account') return ['accounts_receivable', 'customer_credit'];
  if (name === 'type') return ['invoice.finalized', 'invoice.*', 'refund.*'];
  return [Object.hasOwn(SAMPLES, name) ? await sampled(client, name) : (schema?.example ?? 'none')];
}

async function sampled(client: Client, name: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `${SAMPLES[name] ?? ''} ORDER BY 1 LIMIT 1 OFFSET 100`,
  );
  return rows[0]?.id ?? 'none';
}
