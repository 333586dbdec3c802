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

/** Reference to a parameter that several operations have. */
interface Shared {
  readonly $ref: string;
}

const PARAMETERS = '#/components/parameters/';

/**
 * Queries that find a value for each filter without a fixed list of values. The value comes from a row in the middle of
 * the table.
 */
const SAMPLES: Readonly<Record<string, string>> = {
  customer_id: 'SELECT id FROM customer',
  subscription_id: 'SELECT id FROM subscription',
  invoice_id: 'SELECT id FROM invoice',
  source_id: 'SELECT source_id AS id FROM ledger_transaction',
  object_id: 'SELECT object_id AS id FROM event',
  plan_id: 'SELECT plan_id AS id FROM subscription',
  number: 'SELECT number AS id FROM invoice',
  email: `SELECT email AS id FROM customer WHERE email > ''`,
  q: 'SELECT name AS id FROM customer',
  ids: 'SELECT id FROM customer',
};

/** The currency of all rows, and a currency that no row has. */
const CURRENCIES = ['EUR', 'JPY'];

/** Queries for texts to search for, each with a name. The text comes from a row in the middle of the table. */
const SEARCHED: Readonly<Record<string, string>> = {
  'three letters of a name': `SELECT left(name, 3) AS id FROM customer`,
  'a name': 'SELECT name AS id FROM customer',
  'a surname': `SELECT split_part(name, ' ', 2) AS id FROM customer`,
  'a number': 'SELECT number AS id FROM invoice',
  'an id': 'SELECT id FROM subscription',
  'what nothing matches': `SELECT 'qqqqq' AS id FROM customer`,
};

/** Returns the requests of the search to measure, each with a name. */
export async function searchQueries(
  client: Client,
): Promise<readonly (readonly [name: string, path: string])[]> {
  const found: (readonly [string, string])[] = [];
  for (const [name, sql] of Object.entries(SEARCHED)) {
    const typed = encodeURIComponent(await sampled(client, sql));
    found.push([`search: ${name}`, `/v1/search?q=${typed}`]);
  }
  return found;
}

/**
 * Returns the requests of all lists to measure: each list without a filter and with each filter. Their names contain no
 * ids.
 */
export async function listQueries(
  client: Client,
): Promise<readonly (readonly [name: string, path: string])[]> {
  const document = JSON.parse(readFileSync(resolve('openapi/openapi.json'), 'utf8')) as {
    readonly paths: Readonly<
      Record<string, { readonly get?: { readonly parameters?: readonly (Parameter | Shared)[] } }>
    >;
    readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
  };
  const shared = document.components.parameters;
  const found: (readonly [string, string])[] = [];
  for (const [path, { get }] of Object.entries(document.paths)) {
    const parameters = (get?.parameters ?? []).flatMap((one) =>
      '$ref' in one ? (shared[one.$ref.slice(PARAMETERS.length)] ?? []) : [one],
    );
    if (path.includes('{') || !parameters.some(({ name }) => name === 'cursor')) continue;
    const required: string[] = [];
    const optional: string[] = [];
    for (const filter of parameters) {
      if (filter.name === 'limit' || filter.name === 'cursor') continue;
      for (const value of await valuesOf(client, filter)) {
        const query = `${filter.name}=${value}`;
        if (filter.required === true) required.push(query);
        else if (/_(min|max)$/.test(filter.name)) {
          optional.push(...CURRENCIES.map((currency) => `${query}&currency=${currency}`));
        } else optional.push(query);
      }
    }
    for (const one of ['', ...optional]) {
      const query = [...required, one].filter(Boolean).join('&');
      const name = withoutSamples(`${path.slice(4)} ${query}`.trim());
      found.push([name, `${path}?${query}`]);
    }
  }
  return found;
}

/** Returns the name of a request without the values from `SAMPLES`, so that it is the same for each size of the database. */
function withoutSamples(name: string): string {
  const sampledNames = Object.keys(SAMPLES).join('|');
  return name.replaceAll(new RegExp(`\\b(${sampledNames})=[^&]*`, 'g'), '$1');
}

async function valuesOf(client: Client, { name, schema }: Parameter): Promise<readonly string[]> {
  const choices = schema?.enum ?? schema?.items?.enum;
  if (choices !== undefined) return choices;
  if (schema?.format === 'date-time') return ['2026-01-01T00:00:00Z'];
  if (name === 'currency') return CURRENCIES;
  if (name === 'account') return ['accounts_receivable', 'customer_credit'];
  if (name === 'type') return ['invoice.finalized', 'invoice.*', 'refund.*'];
  const sql = SAMPLES[name];
  return [
    sql === undefined
      ? (schema?.example ?? 'none')
      : encodeURIComponent(await sampled(client, sql)),
  ];
}

async function sampled(client: Client, sql: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(`${sql} ORDER BY 1 LIMIT 1 OFFSET 100`);
  return rows[0]?.id ?? 'none';
}
