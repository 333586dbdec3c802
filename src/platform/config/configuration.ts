import { resolve } from 'node:path';
import { ineffectiveSettings } from './ineffective-settings';
import { isLoopback } from './loopback';
import { readOpenId } from './read-openid';
import { ConfigurationError, type Environment, SettingsReader } from './settings-reader';
import { TRACING_SETTINGS } from './tracing-settings';

export { ConfigurationError };

/** Limits in requests per minute; 0: no limit. */
export interface RateLimitSettings {
  /** Limit of each key or admin, or of each address if `AUTH` is `open`. A customer token has a tenth of this limit. */
  readonly perCaller: number;
  /** Limit of each key or admin for requests that report or consume usage. They do not count towards `perCaller`. */
  readonly usagePerCaller: number;
  /** Limit of each address for requests without a valid credential. */
  readonly perAddress: number;
  /** Highest values that a single key can have instead of `perCaller` and `usagePerCaller`. */
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
  /** True if payments at Stripe move real money. */
  readonly isLive: boolean;
  readonly webhookSecrets: readonly string[];
  /** Base URL of a test double of Stripe; null: Stripe itself is called. */
  readonly apiUrl: URL | null;
  /**
   * Maximum age, in minutes, of the last read of Stripe's events. Automatic charges wait while the last read is older.
   */
  readonly eventsMaxAgeMinutes: number;
}

/**
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
  /** Whole months for which usage events stay in the database. */
  readonly retentionMonths: number;
  /** Absolute path of the directory with the archive files. */
  readonly directory: string;
}

/**
 * Reads the settings of the usage archive. Returns null if usage events stay in the database for ever.
 * @throws {ConfigurationError} if events are to be archived and no directory is set
 */
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

/** Checks all settings. A base class, so that its constructor runs before {@link Configuration} reads any setting. */
class ValidSettings {
  protected readonly settings: SettingsReader;
  readonly tracing: boolean;

  constructor(environment: Environment) {
    this.settings = new SettingsReader(environment);
    this.tracing = this.settings.isSet('OTEL_EXPORTER_OTLP_ENDPOINT');
    // Hosting platforms set some OpenTelemetry variables for all services, so they are checked only if traces are
    // exported.
    this.settings.requireValid(this.tracing ? [] : TRACING_NAMES);
  }
}

/** Settings of this process, parsed and checked at the start. */
export class Configuration extends ValidSettings {
  readonly port = this.settings.required('PORT');
  readonly host = this.settings.required('HOST');
  /** Port that answers health probes and metrics without credentials; null: no such port. */
  readonly monitoringPort = this.settings.optional('MONITORING_PORT');
  readonly databaseUrl = this.settings.optional('DATABASE_URL');
  readonly databasePoolSize = this.settings.required('DATABASE_POOL_SIZE');
  readonly databaseStatementTimeoutMs = this.settings.required('DATABASE_STATEMENT_TIMEOUT_MS');
  readonly migrationWaitMs = this.settings.required('MIGRATION_WAIT_MS');
  readonly dataDirectory = resolve(this.settings.required('DATA_DIR'));
  /** True if `NODE_ENV` is `test`. An embedded server is then temporary. */
  readonly isTest: boolean;
  /** Keys that encrypt stored secrets. Null: the service creates a key in the data directory at its first start. */
  readonly encryptionKeys = this.settings.optional('ENCRYPTION_KEYS');
  readonly role = this.settings.required('ROLE');
  readonly auth = this.settings.required('AUTH');
  readonly rateLimits = readRateLimits(this.settings, this.auth);
  /** API key to store at the start; null: no key is stored. */
  readonly bootstrapApiKey = this.settings.optional('BOOTSTRAP_API_KEY');
  /** True if the API documentation needs no credential. */
  readonly publicDocs = this.settings.required('PUBLIC_DOCS');
  readonly trustedProxies = this.settings.required('TRUST_PROXY');
  /** Name of the environment in new API keys, such as `live` in `sk_live_…`, and in the metadata of objects at Stripe. */
  readonly environmentName = this.settings.required('ENVIRONMENT_NAME');
  /** With `required`, requests that move money or start a contract are refused without an idempotency key. */
  readonly idempotencyKeys = this.settings.required('IDEMPOTENCY_KEYS');
  readonly webhooksAllowPrivateNetworks =
    this.settings.optional('WEBHOOKS_ALLOW_PRIVATE_NETWORKS') ?? this.isOpenOnLoopbackOnly;
  readonly webhooksAllowedPorts: readonly number[] | 'any' =
    this.settings.optional('WEBHOOKS_ALLOWED_PORTS') ??
    (this.webhooksAllowPrivateNetworks ? 'any' : DEFAULT_WEBHOOK_PORTS);
  /** Enabled payment providers. Payments and payment methods of other providers are refused. */
  readonly paymentProviders: readonly ('sandbox' | 'manual' | 'stripe')[] =
    this.settings.optional('PAYMENT_PROVIDERS') ??
    (this.isOpenOnLoopbackOnly ? ['sandbox', 'manual'] : ['manual']);
  /** Settings of Stripe; null if Stripe is not an enabled payment provider. */
  readonly stripe = this.paymentProviders.includes('stripe')
    ? readStripe(this.settings, this.auth, this.paymentProviders)
    : null;
  /** Days to wait after each failed automatic attempt to collect an invoice, in the order of the attempts. */
  readonly paymentRetryDays = this.settings.required('PAYMENT_RETRY_DAYS');
  /** Whole months for which the audit log is kept; null: for ever. */
  readonly auditRetentionMonths = this.settings.optional('AUDIT_RETENTION_MONTHS');
  /** Whole months for which events are kept; null: for ever. */
  readonly eventRetentionMonths = this.settings.optional('EVENT_RETENTION_MONTHS');
  /** Settings of the usage archive. Null: usage events stay in the database for ever. */
  readonly usageArchive = readUsageArchive(this.settings);
  readonly webhookAttemptDays = this.settings.required('WEBHOOK_ATTEMPT_DAYS');
  /** OpenID provider at which admins sign in; null: no sign-in with OpenID Connect. */
  readonly openId = readOpenId(this.settings);
  readonly logLevel = this.settings.required('LOG_LEVEL');
  readonly shutdownTimeoutMs = this.settings.required('SHUTDOWN_TIMEOUT_MS');
  /** Longest time for which a client may send nothing while it sends an NDJSON body. */
  readonly ndjsonIdleTimeoutMs = this.settings.required('NDJSON_IDLE_TIMEOUT_MS');
  /** Hours for which a past-due subscription still gives access. */
  readonly pastDueGraceHours = this.settings.required('PAST_DUE_GRACE_HOURS');
  /** Hours for which a renewal invoice stays a draft. A customer can have a value of its own. */
  readonly invoiceGraceHours = this.settings.required('INVOICE_GRACE_HOURS');
  /** Seller on printed invoices. Fields that are null are not printed. */
  readonly seller = {
    name: this.settings.optional('SELLER_NAME'),
    addressLines: this.settings.optional('SELLER_ADDRESS') ?? [],
    taxId: this.settings.optional('SELLER_TAX_ID'),
    email: this.settings.optional('SELLER_EMAIL'),
  };
  /** Font files for characters that the built-in font lacks, in order of preference. */
  readonly invoiceFonts = (this.settings.optional('INVOICE_FONTS') ?? []).map((path) =>
    resolve(path),
  );
  readonly ineffective = ineffectiveSettings(this.settings, this);

  /** @throws {ConfigurationError} naming the first invalid setting */
  constructor(environment: Environment) {
    super(environment);
    this.isTest = environment['NODE_ENV'] === 'test';
    this.requireAcknowledgement();
    this.requirePersistentSetup();
    this.requireOwnMonitoringPort();
  }

  private requireAcknowledgement(): void {
    const acknowledged = this.settings.required('AUTH_OPEN_ACKNOWLEDGED');
    if (this.answersHttp && this.auth === 'open' && !isLoopback(this.host) && !acknowledged) {
      throw new ConfigurationError(
        `AUTH is "open" and HOST is "${this.host}": everyone who can reach this address could move money. ` +
          'Set AUTH=required, listen on 127.0.0.1, or set AUTH_OPEN_ACKNOWLEDGED=true.',
      );
    }
  }

  private requireOwnMonitoringPort(): void {
    if (this.answersHttp && this.port !== 0 && this.monitoringPort === this.port) {
      throw new ConfigurationError(
        `MONITORING_PORT and PORT are both ${this.port}. Set MONITORING_PORT to another port.`,
      );
    }
  }

  /**
   * Requires a configured database and encryption keys if other machines can call the service. The embedded database
   * and a generated key are for trials only. A worker always needs a configured database.
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
   * True if callers need no credential and the service listens on loopback only. Always false for a worker, because its
   * `HOST` says nothing about the processes that answer HTTP.
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

/** Settings of a command. A command answers no requests and does no due work, also if `ROLE` says otherwise. */
class CommandConfiguration extends Configuration {
  override get answersHttp(): boolean {
    return false;
  }

  override get doesDueWork(): boolean {
    return false;
  }
}

/** Reads the settings of the service. Only this function and {@link loadCommandConfiguration} read `process.env`. */
export function loadConfiguration(): Configuration {
  return new Configuration(process.env);
}

/** Reads the settings of a command. Only errors are logged. */
export function loadCommandConfiguration(): Configuration {
  return new CommandConfiguration({ ...process.env, LOG_LEVEL: 'error' });
}
