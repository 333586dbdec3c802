import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { EncryptionKey } from './encryption-keys';
import { SETTINGS, type Setting } from './settings';

/** A variable holds a value the service cannot run with. The message names it; the start stops. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

type Environment = Readonly<Record<string, string | undefined>>;

function read<Value>(
  environment: Environment,
  variable: string,
  setting: Setting<Value>,
): Value | null {
  const text = environment[variable] ?? setting.fallback;
  if (text === null) return null;
  const value = setting.parse(text);
  if (value === undefined) {
    const shown = setting.isSecret === true ? 'something else (not shown)' : JSON.stringify(text);
    throw new ConfigurationError(
      `${variable} is ${shown}, but must be ${setting.accepts.replaceAll('`', '')}.`,
    );
  }
  return value;
}

function readWithFallback<Value>(
  environment: Environment,
  variable: string,
  setting: Setting<Value>,
): Value {
  const value = read(environment, variable, setting);
  if (value === null) throw new ConfigurationError(`${variable} must be set.`);
  return value;
}

/** Whether connections to this address can only come from the same machine. */
function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === 'localhost';
}

const DEFAULT_WEBHOOK_PORTS = [80, 443, 8_080, 8_443] as const;

/** The settings of this process, typed and validated once, at boot. */
export class Configuration {
  readonly port: number;
  readonly host: string;
  readonly databaseUrl: string | null;
  readonly databasePoolSize: number;
  readonly dataDirectory: string;
  /** Never empty; null: one is made on the first start and kept in the data directory. */
  readonly encryptionKeys: readonly EncryptionKey[] | null;
  readonly role: 'all' | 'api' | 'worker';
  readonly auth: 'open';
  /** Whether webhooks may go to loopback and private addresses. */
  readonly webhooksAllowPrivateNetworks: boolean;
  readonly webhooksAllowedPorts: readonly number[] | 'any';
  /** The pause in days after each automatic attempt at an invoice that failed. */
  readonly paymentRetryDays: readonly number[];
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  readonly shutdownTimeoutMs: number;
  /** How long a client may send nothing of the NDJSON it has begun. */
  readonly ndjsonIdleTimeoutMs: number;
  /** How long a subscription that is past due still gives access. */
  readonly pastDueGraceHours: number;
  /** How long the invoice of a renewal stays a draft, for customers without a time of their own. */
  readonly invoiceGraceHours: number;
  /** Who writes the invoices; what is not set is null and not printed. */
  readonly seller: {
    readonly name: string | null;
    readonly addressLines: readonly string[];
    readonly taxId: string | null;
    readonly email: string | null;
  };
  /** Files of fonts that are asked, in this order, for what the service's own font lacks. */
  readonly invoiceFonts: readonly string[];

  /** @throws {ConfigurationError} naming the first variable that is wrong */
  constructor(environment: Environment) {
    this.port = readWithFallback(environment, 'PORT', SETTINGS.PORT);
    this.host = readWithFallback(environment, 'HOST', SETTINGS.HOST);
    this.databaseUrl = read(environment, 'DATABASE_URL', SETTINGS.DATABASE_URL);
    this.databasePoolSize = readWithFallback(
      environment,
      'DATABASE_POOL_SIZE',
      SETTINGS.DATABASE_POOL_SIZE,
    );
    this.dataDirectory = resolve(readWithFallback(environment, 'DATA_DIR', SETTINGS.DATA_DIR));
    this.encryptionKeys = read(environment, 'ENCRYPTION_KEYS', SETTINGS.ENCRYPTION_KEYS);
    this.role = readWithFallback(environment, 'ROLE', SETTINGS.ROLE);
    this.auth = readWithFallback(environment, 'AUTH', SETTINGS.AUTH);
    this.paymentRetryDays = readWithFallback(
      environment,
      'PAYMENT_RETRY_DAYS',
      SETTINGS.PAYMENT_RETRY_DAYS,
    );
    this.logLevel = readWithFallback(environment, 'LOG_LEVEL', SETTINGS.LOG_LEVEL);
    this.shutdownTimeoutMs = readWithFallback(
      environment,
      'SHUTDOWN_TIMEOUT_MS',
      SETTINGS.SHUTDOWN_TIMEOUT_MS,
    );
    this.ndjsonIdleTimeoutMs = readWithFallback(
      environment,
      'NDJSON_IDLE_TIMEOUT_MS',
      SETTINGS.NDJSON_IDLE_TIMEOUT_MS,
    );
    this.webhooksAllowPrivateNetworks =
      read(
        environment,
        'WEBHOOKS_ALLOW_PRIVATE_NETWORKS',
        SETTINGS.WEBHOOKS_ALLOW_PRIVATE_NETWORKS,
      ) ?? this.isOpenOnLoopbackAlone;
    this.webhooksAllowedPorts =
      read(environment, 'WEBHOOKS_ALLOWED_PORTS', SETTINGS.WEBHOOKS_ALLOWED_PORTS) ??
      (this.webhooksAllowPrivateNetworks ? 'any' : DEFAULT_WEBHOOK_PORTS);
    this.pastDueGraceHours = readWithFallback(
      environment,
      'PAST_DUE_GRACE_HOURS',
      SETTINGS.PAST_DUE_GRACE_HOURS,
    );
    this.invoiceGraceHours = readWithFallback(
      environment,
      'INVOICE_GRACE_HOURS',
      SETTINGS.INVOICE_GRACE_HOURS,
    );
    this.seller = {
      name: read(environment, 'SELLER_NAME', SETTINGS.SELLER_NAME),
      addressLines: read(environment, 'SELLER_ADDRESS', SETTINGS.SELLER_ADDRESS) ?? [],
      taxId: read(environment, 'SELLER_TAX_ID', SETTINGS.SELLER_TAX_ID),
      email: read(environment, 'SELLER_EMAIL', SETTINGS.SELLER_EMAIL),
    };
    this.invoiceFonts = (read(environment, 'INVOICE_FONTS', SETTINGS.INVOICE_FONTS) ?? []).map(
      (path) => resolve(path),
    );
    const acknowledged = readWithFallback(
      environment,
      'AUTH_OPEN_ACKNOWLEDGED',
      SETTINGS.AUTH_OPEN_ACKNOWLEDGED,
    );
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- `open` is the only kind so far
    if (this.answersHttp && this.auth === 'open' && !isLoopback(this.host) && !acknowledged) {
      throw new ConfigurationError(
        `AUTH is "open" and HOST is "${this.host}": everyone who can reach this address could move money. ` +
          'Listen on 127.0.0.1, or set AUTH_OPEN_ACKNOWLEDGED=true.',
      );
    }
  }

  /**
   * Only whoever uses the machine itself can name addresses then. A worker cannot tell: those who answer HTTP for it have
   * their own `HOST`.
   */
  private get isOpenOnLoopbackAlone(): boolean {
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- `open` is the only kind so far
    return this.answersHttp && this.auth === 'open' && isLoopback(this.host);
  }

  get answersHttp(): boolean {
    return this.role !== 'worker';
  }

  get doesDueWork(): boolean {
    return this.role !== 'api';
  }
}

/** The configuration of this process. The only place that reads `process.env`. */
export function loadConfiguration(): Configuration {
  return new Configuration(process.env);
}
