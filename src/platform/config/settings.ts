import { faultOfChosenSecret } from '../access/chosen-secret';
import { parseEncryptionKeys } from './encryption-keys';

/** An environment variable: how to parse it, and its row in docs/configuration.md. */
export interface Setting<Value> {
  readonly fallback: string | null;
  readonly accepts: string;
  readonly meaning: string;
  /** Hides a wrong value in the error message. */
  readonly isSecret?: true;
  /** Returns the value, or undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined;
}

function setting<Value>(definition: Setting<Value>): Setting<Value> {
  return definition;
}

function integerBetween(least: number, most: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
}

function oneOf<const Choice extends string>(
  ...choices: readonly Choice[]
): (text: string) => Choice | undefined {
  return (text) => choices.find((choice) => choice === text);
}

function boolean(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

function nonEmpty(text: string): string | undefined {
  return text.trim() === '' ? undefined : text;
}

/** Parses `*`, or port numbers separated by commas. */
function ports(text: string): readonly number[] | 'any' | undefined {
  if (text.trim() === '*') return 'any';
  const parse = integerBetween(1, 65_535);
  const numbers = text.split(',').map((part) => parse(part.trim()));
  const valid = numbers.filter((port) => port !== undefined);
  return valid.length === numbers.length ? valid : undefined;
}

/** Splits text at line breaks, at a literal `\\n` (for files that cannot contain line breaks) and at bars. */
function lines(text: string): readonly string[] | undefined {
  const parts = text
    .split(/\r?\n|\\n|\|/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return parts.length === 0 ? undefined : parts;
}

function commaSeparated(text: string): readonly string[] | undefined {
  const parts = text.split(',').map((part) => part.trim());
  return parts.includes('') ? undefined : parts;
}

const PAYMENT_PROVIDERS = ['sandbox', 'manual'] as const;
type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number];

/** Parses one or more provider names, separated by commas. */
function paymentProviders(text: string): readonly PaymentProviderName[] | undefined {
  const parse = oneOf(...PAYMENT_PROVIDERS);
  const names = text.split(',').map((part) => parse(part.trim()));
  const valid = names.filter((name) => name !== undefined);
  return valid.length === names.length ? valid : undefined;
}

const MOST_RETRIES = 10;
const LONGEST_RETRY_DAYS = 60;

/** Parses whole numbers of days, separated by commas. Empty text means none. */
function retryDays(text: string): readonly number[] | undefined {
  if (text.trim() === '') return [];
  const parse = integerBetween(1, LONGEST_RETRY_DAYS);
  const days = text.split(',').map((part) => parse(part.trim()));
  const valid = days.filter((day) => day !== undefined);
  return valid.length === days.length && days.length <= MOST_RETRIES ? valid : undefined;
}

function postgresUrl(text: string): string | undefined {
  return URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol) ? text : undefined;
}

/** All environment variables of the service. A test compares them with the table in docs/configuration.md. */
export const SETTINGS = {
  PORT: setting({
    fallback: '3000',
    accepts: '0 to 65535',
    meaning: 'Port to listen on; 0 takes any free one.',
    parse: integerBetween(0, 65_535),
  }),
  HOST: setting({
    fallback: '127.0.0.1',
    accepts: 'an address or host name',
    meaning: 'Address to listen on.',
    parse: nonEmpty,
  }),
  DATABASE_URL: setting({
    fallback: null,
    accepts: 'postgres://…',
    meaning:
      'PostgreSQL 15 to 18 to use. Without it the embedded server is started, on loopback only.',
    isSecret: true,
    parse: postgresUrl,
  }),
  DATABASE_POOL_SIZE: setting({
    fallback: '20',
    accepts: '2 to 500',
    meaning: 'Connections each process keeps to the database, at the most.',
    parse: integerBetween(2, 500),
  }),
  DATABASE_STATEMENT_TIMEOUT_MS: setting({
    fallback: '30000',
    accepts: '100 to 600000',
    meaning:
      'How long a statement may run. An answer is awaited for that long again, at most 5 s longer.',
    parse: integerBetween(100, 600_000),
  }),
  MIGRATION_WAIT_MS: setting({
    fallback: '300000',
    accepts: '0 to 3600000',
    meaning: 'How long a start waits for another process that migrates the database.',
    parse: integerBetween(0, 3_600_000),
  }),
  DATA_DIR: setting({
    fallback: '.data',
    accepts: 'a path',
    meaning: "Where the embedded server's data and a made encryption key are kept.",
    parse: nonEmpty,
  }),
  ENCRYPTION_KEYS: setting({
    fallback: null,
    accepts: '`id:base64 of 32 bytes`, comma separated',
    meaning:
      'Seal stored secrets: the first seals, all open. Unset, on loopback only: one made in `DATA_DIR`.',
    isSecret: true,
    parse: parseEncryptionKeys,
  }),
  ROLE: setting({
    fallback: 'all',
    accepts: '`all`, `api`, `worker`',
    meaning: 'What this process does: answer HTTP, do the due work in the background, or both.',
    parse: oneOf('all', 'api', 'worker'),
  }),
  AUTH: setting({
    fallback: 'open',
    accepts: '`open`, `required`',
    meaning:
      'Who may call. `open`: everyone who can reach the port. `required`: holders of an API key with the scope of the operation.',
    parse: oneOf('open', 'required'),
  }),
  RATE_LIMIT_PER_MINUTE: setting({
    fallback: null,
    accepts: '0 to 100000000',
    meaning:
      'Requests of each key, admin or token in a minute; 0: no limit. Unset: 6000 with `AUTH=required`, else 0.',
    parse: integerBetween(0, 100_000_000),
  }),
  RATE_LIMIT_USAGE_PER_MINUTE: setting({
    fallback: null,
    accepts: '0 to 100000000',
    meaning:
      'Requests of each key that report or consume usage in a minute. Unset: 120000 with `AUTH=required`, else 0.',
    parse: integerBetween(0, 100_000_000),
  }),
  RATE_LIMIT_ADDRESS_PER_MINUTE: setting({
    fallback: null,
    accepts: '0 to 100000000',
    meaning:
      'Requests of each address without a valid credential in a minute. Unset: 600 with `AUTH=required`, else 0.',
    parse: integerBetween(0, 100_000_000),
  }),
  AUTH_OPEN_ACKNOWLEDGED: setting({
    fallback: 'false',
    accepts: '`true`, `false`',
    meaning: 'Must be `true` to start with `AUTH=open` on a `HOST` that is not loopback.',
    parse: boolean,
  }),
  BOOTSTRAP_API_KEY: setting({
    fallback: null,
    accepts: '32 random bytes, e.g. of `openssl rand -hex 32`',
    meaning:
      'API key with all scopes, stored as a hash at the first start with it. Once revoked it stays revoked.',
    isSecret: true,
    parse: (text) => (faultOfChosenSecret(text) === null ? text : undefined),
  }),
  ENVIRONMENT_NAME: setting({
    fallback: 'live',
    accepts: '1 to 16 lower-case letters and digits',
    meaning: 'Environment that new API keys name after `sk_`, e.g. `live` or `test`.',
    parse: (text) => (/^[a-z0-9]{1,16}$/.test(text) ? text : undefined),
  }),
  PUBLIC_DOCS: setting({
    fallback: 'true',
    accepts: '`true`, `false`',
    meaning: 'With `AUTH=required`: whether `/docs` and `/openapi.json` need no credential.',
    parse: boolean,
  }),
  TRUST_PROXY: setting({
    fallback: '0',
    accepts: '0 to 10',
    meaning:
      'Number of proxies in front. The address of the caller is the one that the first of them reports in `X-Forwarded-For`.',
    parse: integerBetween(0, 10),
  }),
  WEBHOOKS_ALLOW_PRIVATE_NETWORKS: setting({
    fallback: null,
    accepts: '`true`, `false`',
    meaning:
      'Whether webhooks may go to loopback and private addresses. Unset: only where `AUTH=open` listens on loopback.',
    parse: boolean,
  }),
  WEBHOOKS_ALLOWED_PORTS: setting({
    fallback: null,
    accepts: 'ports, comma separated, or `*`',
    meaning:
      'Ports webhooks may go to. Unset: 80, 443, 8080, 8443; any with private networks allowed.',
    parse: ports,
  }),
  IDEMPOTENCY_KEYS: setting({
    fallback: 'optional',
    accepts: '`optional`, `required`',
    meaning:
      '`required` refuses requests without an idempotency key where money moves or a contract begins. Recommended in production.',
    parse: oneOf('optional', 'required'),
  }),
  PAYMENT_PROVIDERS: setting({
    fallback: null,
    accepts: '`sandbox`, `manual`, comma separated',
    meaning:
      'Payment providers switched on. Unset: `manual`; also `sandbox` where `AUTH=open` listens on loopback.',
    parse: paymentProviders,
  }),
  PAYMENT_RETRY_DAYS: setting({
    fallback: '1,3,5,7',
    accepts: 'up to 10 numbers from 1 to 60, comma separated, or nothing',
    meaning: 'Days after each failed attempt at an invoice until the next; then it is given up.',
    parse: retryDays,
  }),
  LOG_LEVEL: setting({
    fallback: 'info',
    accepts: '`fatal`, `error`, `warn`, `info`, `debug`, `trace`, `silent`',
    meaning: 'Least severe log line that is written.',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  }),
  SHUTDOWN_TIMEOUT_MS: setting({
    fallback: '25000',
    accepts: '0 to 600000',
    meaning: 'How long requests and jobs in flight may take to finish after SIGTERM or SIGINT.',
    parse: integerBetween(0, 600_000),
  }),
  NDJSON_IDLE_TIMEOUT_MS: setting({
    fallback: '30000',
    accepts: '100 to 300000',
    meaning:
      'How long a client may send nothing of the NDJSON it has begun, or less than 500 bytes a second.',
    parse: integerBetween(100, 300_000),
  }),
  PAST_DUE_GRACE_HOURS: setting({
    fallback: '72',
    accepts: '0 to 8784',
    meaning: 'How long a subscription that is past due still gives what its plan allows.',
    parse: integerBetween(0, 8_784),
  }),
  INVOICE_GRACE_HOURS: setting({
    fallback: '0',
    accepts: '0 to 720',
    meaning:
      'Hours for which the invoice of a renewal stays a draft, for usage that is late; a customer may have its own.',
    parse: integerBetween(0, 720),
  }),
  SELLER_NAME: setting({
    fallback: null,
    accepts: 'a text',
    meaning: 'Who sells: the name on printed invoices.',
    parse: nonEmpty,
  }),
  SELLER_ADDRESS: setting({
    fallback: null,
    accepts: 'lines parted by line breaks, `\\n` or bars',
    meaning: "The seller's address on printed invoices.",
    parse: lines,
  }),
  SELLER_TAX_ID: setting({
    fallback: null,
    accepts: 'a text',
    meaning: "The seller's tax number on printed invoices.",
    parse: nonEmpty,
  }),
  SELLER_EMAIL: setting({
    fallback: null,
    accepts: 'a text',
    meaning: 'Where buyers may write, on printed invoices.',
    parse: nonEmpty,
  }),
  INVOICE_FONTS: setting({
    fallback: null,
    accepts: 'paths of TrueType or OpenType files, comma separated',
    meaning: 'Fonts for scripts on printed invoices beyond Latin, Greek, Cyrillic, Devanagari.',
    parse: commaSeparated,
  }),
} as const;
