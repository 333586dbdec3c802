import { resolve } from 'node:path';
import type { EncryptionKey } from './encryption-keys';
import { ineffectiveSettings } from './ineffective-settings';
import { isLoopback } from './loopback';
import { type OpenIdSettings, readOpenId } from './read-openid';
import { ConfigurationError, type Environment, SettingsReader } from './settings-reader';
import { TRACING_SETTINGS } from './tracing-settings';

export { ConfigurationError };

interface RateLimitSettings {
  readonly perCaller: number;
  readonly usagePerCaller: number;
  readonly perAddress: number;
  /** Maximum values of the limits that an API key can have instead of `perCaller` and `usagePerCaller`. */
  readonly keyCeilings: { readonly perCaller: number; readonly usagePerCaller: number };
}

function readRateLimits(settings: SettingsReader, auth: 'open' | 'required'): RateLimitSettings {
  const limit = (
    name: 'RATE_LIMIT_PER_MINUTE' | 'RATE_LIMIT_USAGE_PER_MINUTE' | 'RATE_LIMIT_ADDRESS_PER_MINUTE',
    whenRequired: number,
  ): number => settings.optional(name) ?? (auth === 'required' ? whenRequired : 0);
  return {
    perCaller: limit('RATE_LIMIT_PER_MINUTE', 6_000),
    usagePerCaller: limit('RATE_LIMIT_USAGE_PER_MINUTE', 120_000),
    perAddress: limit('RATE_LIMIT_ADDRESS_PER_MINUTE', 600),
    keyCeilings: {
      perCaller: settings.required('RATE_LIMIT_KEY_CEILING'),
      usagePerCaller: settings.required('RATE_LIMIT_USAGE_KEY_CEILING'),
    },
  };
}

interface StripeSettings {
  readonly secretKey: string;
  /** True if payments move real money. */
  readonly isLive: boolean;
  readonly webhookSecrets: readonly string[];
  /** Base URL of a test double of Stripe; null for Stripe itself. */
  readonly apiUrl: URL | null;
  /** Automatic charges stop if Stripe's events were last read longer ago than this. */
  readonly eventsMaxAgeMinutes: number;
}

/**
 * Reads the settings of Stripe.
 * @throws {ConfigurationError} if the key does not belong to `STRIPE_MODE`, or if live mode is combined with open
 *   access, the sandbox provider or `STRIPE_API_URL`
 */
function readStripe(
  settings: SettingsReader,
  auth: 'open' | 'required',
  providers: readonly string[],
): StripeSettings {
  const secretKey = settings.required('STRIPE_SECRET_KEY');
  const mode = settings.required('STRIPE_MODE');
  const apiUrl = settings.optional('STRIPE_API_URL');
  const modeOfKey = secretKey.slice(3).startsWith('live_') ? 'live' : 'test';
  if (modeOfKey !== mode) {
    throw new ConfigurationError(
      `STRIPE_SECRET_KEY is a ${modeOfKey} key, but STRIPE_MODE is "${mode}": use a ${mode} key, or set STRIPE_MODE=${modeOfKey}.`,
    );
  }
  const isUnsafe = auth === 'open' || providers.includes('sandbox') || apiUrl !== null;
  if (mode === 'live' && isUnsafe) {
    throw new ConfigurationError(
      'STRIPE_MODE is "live", so AUTH must be "required", PAYMENT_PROVIDERS must not name sandbox, and STRIPE_API_URL must not be set.',
    );
  }
  const webhookSecrets = settings.optional('STRIPE_WEBHOOK_SECRETS') ?? [];
  const eventsMaxAgeMinutes = settings.required('STRIPE_EVENTS_MAX_AGE_MINUTES');
  return { secretKey, isLive: mode === 'live', webhookSecrets, apiUrl, eventsMaxAgeMinutes };
}

interface UsageArchiveSettings {
  /** Number of whole months for which usage events stay in the database. */
  readonly retentionMonths: number;
  /** Absolute path of the archive files. */
  readonly directory: string;
}

/** @throws {ConfigurationError} if events are to be archived and no directory is set */
function readUsageArchive(settings: SettingsReader): UsageArchiveSettings | null {
  const retentionMonths = settings.optional('USAGE_RETENTION_MONTHS');
  const directory = settings.optional('USAGE_ARCHIVE_DIRECTORY');
  if (retentionMonths === null) return null;
  if (directory === null) {
    throw new ConfigurationError(
      'USAGE_RETENTION_MONTHS is set, so USAGE_ARCHIVE_DIRECTORY must be set: usage events are archived there before they are removed.',
    );
  }
  return { retentionMonths, directory: resolve(directory) };
}

const TRACING_NAMES = Object.keys(TRACING_SETTINGS) as (keyof typeof TRACING_SETTINGS)[];

const DEFAULT_WEBHOOK_PORTS = [80, 443, 8_080, 8_443] as const;

/** Settings of this process, typed and validated at the start. */
export class Configuration {
  readonly port: number;
  readonly host: string;
  /** Port that answers health probes and metrics without credentials; null: there is no such port. */
  readonly monitoringPort: number | null;
  readonly databaseUrl: string | null;
  readonly databasePoolSize: number;
  readonly databaseStatementTimeoutMs: number;
  readonly migrationWaitMs: number;
  readonly dataDirectory: string;
  /**
   * Keys that encrypt stored secrets, never empty. Null: a key is created at the first start and kept in the data
   * directory.
   */
  readonly encryptionKeys: readonly EncryptionKey[] | null;
  readonly role: 'all' | 'api' | 'worker';
  readonly auth: 'open' | 'required';
  /** Maximum requests per minute of each caller, of each caller for usage, and of each address. 0: no limit. */
  readonly rateLimits: RateLimitSettings;
  /** API key to store at the start; null: no key is stored. */
  readonly bootstrapApiKey: string | null;
  /** True if the documentation of the API needs no credential. */
  readonly publicDocs: boolean;
  /** Number of proxies in front of the service. */
  readonly trustedProxies: number;
  /** Name of the environment in new API keys, such as `live`. */
  readonly environmentName: string;
  /** With `required`, requests that move money or start a contract are refused without an idempotency key. */
  readonly idempotencyKeys: 'optional' | 'required';
  /** Allows webhooks to loopback and private addresses. */
  readonly webhooksAllowPrivateNetworks: boolean;
  readonly webhooksAllowedPorts: readonly number[] | 'any';
  /** Enabled payment providers. Payments and payment methods of other providers are refused. */
  readonly paymentProviders: readonly ('sandbox' | 'manual' | 'stripe')[];
  /** Settings of Stripe; null if it is not an enabled payment provider. */
  readonly stripe: StripeSettings | null;
  /** Waits, in days, after the first, second and further failed automatic attempts to collect an invoice. */
  readonly paymentRetryDays: readonly number[];
  /** Whole months for which the audit log is kept; null: for ever. */
  readonly auditRetentionMonths: number | null;
  /** Whole months for which events are kept; null: for ever. */
  readonly eventRetentionMonths: number | null;
  /** Archive of usage events; null: usage events stay in the database for ever. */
  readonly usageArchive: UsageArchiveSettings | null;
  readonly webhookAttemptDays: number;
  /** OpenID provider at which admins sign in; null: they cannot sign in with OpenID Connect. */
  readonly openId: OpenIdSettings | null;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** True if traces are exported. The packages of OpenTelemetry read their settings themselves. */
  readonly tracing: boolean;
  readonly shutdownTimeoutMs: number;
  /** Maximum pause between two parts of an NDJSON body that a client sends. */
  readonly ndjsonIdleTimeoutMs: number;
  /** Hours for which a past-due subscription still gives access. */
  readonly pastDueGraceHours: number;
  /** Hours for which a renewal invoice stays a draft, for customers without a setting of their own. */
  readonly invoiceGraceHours: number;
  /** Seller on printed invoices. Null values are not printed. */
  readonly seller: {
    readonly name: string | null;
    readonly addressLines: readonly string[];
    readonly taxId: string | null;
    readonly email: string | null;
  };
  /** Font files for characters that the built-in font lacks, in order of preference. */
  readonly invoiceFonts: readonly string[];
  /** Settings that have no effect because of other settings, each with the reason. */
  readonly ineffective: readonly string[];

  /**
   * @throws {ConfigurationError} naming the first invalid setting
   */
  constructor(environment: Environment) {
    const settings = new SettingsReader(environment);
    this.tracing = environment['OTEL_EXPORTER_OTLP_ENDPOINT'] !== undefined;
    // Hosting platforms set some OpenTelemetry variables for all services, so they are checked only if traces are
    // exported.
    settings.requireValid(this.tracing ? [] : TRACING_NAMES);
    this.port = settings.required('PORT');
    this.host = settings.required('HOST');
    this.monitoringPort = settings.optional('MONITORING_PORT');
    this.databaseUrl = settings.optional('DATABASE_URL');
    this.databasePoolSize = settings.required('DATABASE_POOL_SIZE');
    this.databaseStatementTimeoutMs = settings.required('DATABASE_STATEMENT_TIMEOUT_MS');
    this.migrationWaitMs = settings.required('MIGRATION_WAIT_MS');
    this.dataDirectory = resolve(settings.required('DATA_DIR'));
    this.encryptionKeys = settings.optional('ENCRYPTION_KEYS');
    this.role = settings.required('ROLE');
    this.auth = settings.required('AUTH');
    this.rateLimits = readRateLimits(settings, this.auth);
    this.bootstrapApiKey = settings.optional('BOOTSTRAP_API_KEY');
    this.publicDocs = settings.required('PUBLIC_DOCS');
    this.trustedProxies = settings.required('TRUST_PROXY');
    this.environmentName = settings.required('ENVIRONMENT_NAME');
    this.idempotencyKeys = settings.required('IDEMPOTENCY_KEYS');
    this.paymentProviders =
      settings.optional('PAYMENT_PROVIDERS') ??
      (this.isOpenOnLoopbackOnly ? ['sandbox', 'manual'] : ['manual']);
    this.stripe = this.paymentProviders.includes('stripe')
      ? readStripe(settings, this.auth, this.paymentProviders)
      : null;
    this.paymentRetryDays = settings.required('PAYMENT_RETRY_DAYS');
    this.eventRetentionMonths = settings.optional('EVENT_RETENTION_MONTHS');
    this.usageArchive = readUsageArchive(settings);
    this.webhookAttemptDays = settings.required('WEBHOOK_ATTEMPT_DAYS');
    this.auditRetentionMonths = settings.optional('AUDIT_RETENTION_MONTHS');
    this.openId = readOpenId(settings);
    this.logLevel = settings.required('LOG_LEVEL');
    this.shutdownTimeoutMs = settings.required('SHUTDOWN_TIMEOUT_MS');
    this.ndjsonIdleTimeoutMs = settings.required('NDJSON_IDLE_TIMEOUT_MS');
    this.webhooksAllowPrivateNetworks =
      settings.optional('WEBHOOKS_ALLOW_PRIVATE_NETWORKS') ?? this.isOpenOnLoopbackOnly;
    this.webhooksAllowedPorts =
      settings.optional('WEBHOOKS_ALLOWED_PORTS') ??
      (this.webhooksAllowPrivateNetworks ? 'any' : DEFAULT_WEBHOOK_PORTS);
    this.pastDueGraceHours = settings.required('PAST_DUE_GRACE_HOURS');
    this.invoiceGraceHours = settings.required('INVOICE_GRACE_HOURS');
    this.seller = {
      name: settings.optional('SELLER_NAME'),
      addressLines: settings.optional('SELLER_ADDRESS') ?? [],
      taxId: settings.optional('SELLER_TAX_ID'),
      email: settings.optional('SELLER_EMAIL'),
    };
    this.invoiceFonts = (settings.optional('INVOICE_FONTS') ?? []).map((path) => resolve(path));
    this.requireAcknowledgement(settings);
    this.requirePersistentSetup();
    this.ineffective = ineffectiveSettings(settings, this);
  }

  private requireAcknowledgement(settings: SettingsReader): void {
    const acknowledged = settings.required('AUTH_OPEN_ACKNOWLEDGED');
    if (this.answersHttp && this.auth === 'open' && !isLoopback(this.host) && !acknowledged) {
      throw new ConfigurationError(
        `AUTH is "open" and HOST is "${this.host}": everyone who can reach this address could move money. ` +
          'Set AUTH=required, listen on 127.0.0.1, or set AUTH_OPEN_ACKNOWLEDGED=true.',
      );
    }
  }

  /**
   * Requires a configured database and configured encryption keys if other machines can call the service, because the
   * embedded database and generated keys are for trials. A worker always requires a configured database.
   */
  private requirePersistentSetup(): void {
    const missing = [
      ...(this.databaseUrl === null ? ['DATABASE_URL'] : []),
      ...(this.encryptionKeys === null ? ['ENCRYPTION_KEYS'] : []),
    ];
    if (!isLoopback(this.host) && missing.length > 0) {
      throw new ConfigurationError(
        `HOST is "${this.host}", which is not loopback, so ${missing.join(' and ')} must be set: generated databases ` +
          'and keys are for trying out on one machine.',
      );
    }
    if (this.role === 'worker' && this.databaseUrl === null) {
      throw new ConfigurationError(
        'ROLE is "worker", so DATABASE_URL must be set to the database of the processes that answer HTTP.',
      );
    }
  }

  /**
   * True if callers need no credential and the service listens on loopback only. Always false for a worker, because the
   * processes that answer HTTP have their own `HOST`.
   */
  get isOpenOnLoopbackOnly(): boolean {
    return this.answersHttp && this.auth === 'open' && isLoopback(this.host);
  }

  get answersHttp(): boolean {
    return this.role !== 'worker';
  }

  get doesDueWork(): boolean {
    return this.role !== 'api';
  }
}

/**
 * Returns the configuration of this process. Only this function reads `process.env`.
 * @param fixed settings that the caller sets, whatever the environment variables say
 */
export function loadConfiguration(fixed: Environment = {}): Configuration {
  return new Configuration({ ...process.env, ...fixed });
}
