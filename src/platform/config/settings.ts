import { faultOfChosenSecret } from '../access/chosen-secret';
import { parseEncryptionKeys } from './encryption-keys';
import { OPENID_SETTINGS } from './openid-settings';
import { TRACING_SETTINGS } from './tracing-settings';
import {
  boolean,
  commaSeparated,
  httpUrl,
  integerBetween,
  lines,
  nonEmpty,
  oneOf,
  paymentProviders,
  ports,
  postgresUrl,
  retryDays,
  setting,
  webhookSecrets,
} from './setting';

/** All environment variables of the service. A test compares them with the table in docs/configuration.md. */
export const SETTINGS = {
  PORT: setting({
    fallback: '3000',
    ...integerBetween(0, 65_535),
    meaning: 'Port to listen on; 0 takes any free one.',
  }),
  HOST: setting({
    fallback: '127.0.0.1',
    ...nonEmpty,
    accepts: 'an address or host name',
    meaning: 'Address to listen on.',
  }),
  MONITORING_PORT: setting({
    ...integerBetween(0, 65_535),
    meaning:
      'Port on `HOST` for `/health` and `/metrics` without credentials, for workers and monitoring. Unset: none.',
  }),
  DATABASE_URL: setting({
    accepts:
      'postgres://…, with a known `sslmode`, if any: `disable`, `no-verify`, `verify-full`…; `%25` stands for `%`',
    meaning:
      'PostgreSQL 15 to 18 to use. Without it the embedded server is started, on loopback only.',
    isSecret: true,
    parse: postgresUrl,
  }),
  DATABASE_POOL_SIZE: setting({
    fallback: '20',
    ...integerBetween(2, 500),
    meaning:
      'Maximum number of database connections of the pool of each process. The process has up to 13 more.',
  }),
  DATABASE_STATEMENT_TIMEOUT_MS: setting({
    fallback: '30000',
    ...integerBetween(100, 600_000),
    meaning:
      'Time limit of a statement. The client waits for the answer for twice this time, or 5 s longer than it if that is less.',
  }),
  MIGRATION_WAIT_MS: setting({
    fallback: '300000',
    ...integerBetween(0, 3_600_000),
    meaning:
      'How long a start waits for another migrating process, and how long a migration waits for its locks.',
  }),
  DATA_DIR: setting({
    fallback: '.data',
    ...nonEmpty,
    accepts: 'a path',
    meaning: "Directory of the embedded server's data and of a generated encryption key.",
  }),
  ENCRYPTION_KEYS: setting({
    accepts: '`id:base64 of 32 bytes`, comma separated, each id and each key once',
    meaning:
      'Keys that encrypt stored secrets: the first key encrypts, all keys decrypt. Unset, on loopback only: a key is generated in `DATA_DIR`.',
    isSecret: true,
    parse: parseEncryptionKeys,
  }),
  ROLE: setting({
    fallback: 'all',
    ...oneOf('all', 'api', 'worker'),
    meaning:
      'Work of this process: answer HTTP requests (`api`), do due work in the background (`worker`), or both.',
  }),
  AUTH: setting({
    fallback: 'open',
    ...oneOf('open', 'required'),
    meaning:
      'Who may call. `open`: everyone who can reach the port. `required`: holders of an API key with the scope of the operation.',
  }),
  RATE_LIMIT_PER_MINUTE: setting({
    ...integerBetween(0, 100_000_000),
    meaning:
      'Requests per minute of a key or admin; its customer tokens have a tenth each. 0: no limit. Unset: 6000 with `AUTH=required`, else 0.',
  }),
  RATE_LIMIT_USAGE_PER_MINUTE: setting({
    ...integerBetween(0, 100_000_000),
    meaning:
      'Requests per minute of each key that report or consume usage. 0: no limit. Unset: 120000 with `AUTH=required`, else 0.',
  }),
  RATE_LIMIT_ADDRESS_PER_MINUTE: setting({
    ...integerBetween(0, 100_000_000),
    meaning:
      'Requests per minute of each address without a valid credential. 0: no limit. Unset: 600 with `AUTH=required`, else 0.',
  }),
  RATE_LIMIT_KEY_CEILING: setting({
    fallback: '60000',
    ...integerBetween(1, 100_000_000),
    meaning: 'Highest `requests_per_minute` that an API key can be given.',
  }),
  RATE_LIMIT_USAGE_KEY_CEILING: setting({
    fallback: '1200000',
    ...integerBetween(1, 100_000_000),
    meaning: 'Highest `usage_requests_per_minute` that an API key can be given.',
  }),
  AUTH_OPEN_ACKNOWLEDGED: setting({
    fallback: 'false',
    ...boolean,
    meaning: 'Must be `true` to start with `AUTH=open` on a `HOST` that is not loopback.',
  }),
  BOOTSTRAP_API_KEY: setting({
    accepts: '32 random bytes, e.g. of `openssl rand -hex 32`',
    meaning:
      'API key with all scopes, stored as a hash at the first start with it. After a roll or revocation, the value is not stored again.',
    isSecret: true,
    parse: (text) => (faultOfChosenSecret(text) === null ? text : undefined),
  }),
  ENVIRONMENT_NAME: setting({
    fallback: 'live',
    accepts: '1 to 16 lower-case letters and digits',
    meaning:
      'Name of the environment in new API keys, after `sk_`, and in the metadata at Stripe. Do not change it while Stripe is used.',
    parse: (text) => (/^[a-z0-9]{1,16}$/.test(text) ? text : undefined),
  }),
  PUBLIC_DOCS: setting({
    fallback: 'true',
    ...boolean,
    meaning:
      'With `AUTH=required`: `true` allows `/docs` and `/openapi.json` without a credential.',
  }),
  TRUST_PROXY: setting({
    fallback: '0',
    ...integerBetween(0, 10),
    meaning:
      'Number of proxies in front of the service. The caller’s address is the one that the outermost proxy reports in `X-Forwarded-For`.',
  }),
  WEBHOOKS_ALLOW_PRIVATE_NETWORKS: setting({
    ...boolean,
    meaning:
      'Allows webhooks to loopback and private addresses. Unset: allowed only if `AUTH=open` listens on loopback.',
  }),
  WEBHOOKS_ALLOWED_PORTS: setting({
    accepts: 'ports, comma separated, or `*`',
    meaning:
      'Ports to which webhooks may be sent. Unset: 80, 443, 8080, 8443; all ports if private networks are allowed.',
    parse: ports,
  }),
  IDEMPOTENCY_KEYS: setting({
    fallback: 'optional',
    ...oneOf('optional', 'required'),
    meaning:
      '`required` refuses requests without an idempotency key where money moves or a contract begins. Recommended in production.',
  }),
  PAYMENT_PROVIDERS: setting({
    accepts: '`sandbox`, `manual`, `stripe`, comma separated',
    meaning:
      'Enabled payment providers. Unset: `manual`, and also `sandbox` if `AUTH=open` listens on loopback.',
    parse: paymentProviders,
  }),
  STRIPE_MODE: setting({
    fallback: 'test',
    ...oneOf('test', 'live'),
    meaning:
      'Mode that `STRIPE_SECRET_KEY` must have. `live` moves real money, and needs `AUTH=required` and no `sandbox`.',
  }),
  STRIPE_SECRET_KEY: setting({
    accepts: 'a secret or restricted key of Stripe: `sk_…` or `rk_…`',
    meaning: 'Key for requests to Stripe. Needed if `PAYMENT_PROVIDERS` names `stripe`.',
    isSecret: true,
    parse: (text) => (/^[sr]k_(?:test|live)_[A-Za-z0-9_]{6,250}$/.test(text) ? text : undefined),
  }),
  STRIPE_WEBHOOK_SECRETS: setting({
    accepts: 'one or two secrets `whsec_…`, comma separated',
    meaning:
      'Signing secrets of the webhook at Stripe; two while a secret is rotated. Unset: webhooks are refused.',
    isSecret: true,
    parse: webhookSecrets,
  }),
  STRIPE_API_URL: setting({
    accepts: 'an origin, e.g. `http://127.0.0.1:12111`',
    meaning: 'Address of a test double of Stripe, for tests. Refused with `STRIPE_MODE=live`.',
    parse: httpUrl,
  }),
  STRIPE_EVENTS_MAX_AGE_MINUTES: setting({
    fallback: '10',
    ...integerBetween(2, 1_440),
    meaning:
      'Invoices are not charged automatically while Stripe’s events were last read longer ago than this.',
  }),
  PAYMENT_RETRY_DAYS: setting({
    fallback: '1,3,5,7',
    accepts: 'up to 10 numbers from 1 to 60, comma separated, or nothing',
    meaning:
      'Days from each failed attempt to collect an invoice to the next attempt. After the last, collection waits for another default payment method.',
    parse: retryDays,
  }),
  AUDIT_RETENTION_MONTHS: setting({
    ...integerBetween(3, 1_200),
    meaning:
      'Whole months for which the audit log is kept; older ones are dropped. Unset: kept for ever.',
  }),
  EVENT_RETENTION_MONTHS: setting({
    ...integerBetween(1, 1_200),
    meaning:
      'Whole months for which events and their webhook deliveries are kept. Older ones are deleted, unless a delivery is pending. Unset: kept for ever.',
  }),
  USAGE_RETENTION_MONTHS: setting({
    ...integerBetween(3, 1_200),
    meaning:
      'Whole months for which usage events are kept. Older ones are archived and removed, see docs/usage.md. Unset: kept for ever.',
  }),
  USAGE_ARCHIVE_DIRECTORY: setting({
    ...nonEmpty,
    accepts: 'a path',
    meaning:
      'Existing directory where usage events are archived, the same for all workers. Needed with `USAGE_RETENTION_MONTHS`.',
  }),
  WEBHOOK_ATTEMPT_DAYS: setting({
    fallback: '30',
    ...integerBetween(1, 3_650),
    meaning:
      'Minimum number of days for which webhook delivery attempts are kept. Whole months are dropped.',
  }),
  LOG_LEVEL: setting({
    fallback: 'info',
    ...oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    meaning: 'Least severe log line that is written.',
  }),
  SHUTDOWN_TIMEOUT_MS: setting({
    fallback: '25000',
    ...integerBetween(0, 600_000),
    meaning: 'How long requests and jobs in flight may take to finish after SIGTERM or SIGINT.',
  }),
  NDJSON_IDLE_TIMEOUT_MS: setting({
    fallback: '30000',
    ...integerBetween(100, 300_000),
    meaning:
      'Longest time in which a client may send nothing of an NDJSON body, or send less than 500 bytes per second.',
  }),
  PAST_DUE_GRACE_HOURS: setting({
    fallback: '72',
    ...integerBetween(0, 8_784),
    meaning:
      'Hours for which a past-due subscription keeps its entitlements. A change may begin to apply when the former hours are over.',
  }),
  INVOICE_GRACE_HOURS: setting({
    fallback: '0',
    ...integerBetween(0, 720),
    meaning:
      'Hours for which a renewal invoice stays a draft, to include late usage. A customer can have its own value.',
  }),
  ...TRACING_SETTINGS,
  ...OPENID_SETTINGS,
  SELLER_NAME: setting({
    ...nonEmpty,
    meaning: "Seller's name on printed invoices.",
  }),
  SELLER_ADDRESS: setting({
    accepts: 'lines separated by line breaks, `\\n` or bars',
    meaning: "Seller's address on printed invoices.",
    parse: lines,
  }),
  SELLER_TAX_ID: setting({
    ...nonEmpty,
    meaning: "Seller's tax number on printed invoices.",
  }),
  SELLER_EMAIL: setting({
    ...nonEmpty,
    meaning: "Seller's e-mail address on printed invoices.",
  }),
  INVOICE_FONTS: setting({
    accepts: 'paths of TrueType or OpenType files, comma separated',
    meaning: 'Fonts for scripts on printed invoices beyond Latin, Greek, Cyrillic, Devanagari.',
    parse: commaSeparated,
  }),
} as const;
