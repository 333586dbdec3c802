/** How to parse a value, and how docs/configuration.md describes the accepted values. */
interface Format<Value> {
  readonly accepts: string;
  /** Returns the value, or undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined;
}

/** An environment variable, with its row in docs/configuration.md. */
export interface Setting<Value> extends Format<Value> {
  readonly fallback?: string;
  readonly meaning: string;
  /** True if error messages must not show the value. */
  readonly isSecret?: true;
}

export function setting<Value>(definition: Setting<Value>): Setting<Value> {
  return definition;
}

export function integerBetween(min: number, max: number): Format<number> {
  return {
    accepts: `${min} to ${max}`,
    parse: (text) => {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]): Format<Choice> {
  return {
    accepts: choices.map((choice) => `\`${choice}\``).join(', '),
    parse: (text) => choices.find((choice) => choice === text),
  };
}

export const boolean: Format<boolean> = {
  accepts: '`true`, `false`',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

export const nonEmpty: Format<string> = {
  accepts: 'a text',
  parse: (text) => (text.trim() === '' ? undefined : text),
};

export function ports(text: string): readonly number[] | 'any' | undefined {
  if (text.trim() === '*') return 'any';
  const { parse } = integerBetween(1, 65_535);
  const numbers = text.split(',').map((part) => parse(part.trim()));
  const valid = numbers.filter((port) => port !== undefined);
  return valid.length === numbers.length ? valid : undefined;
}

/** Splits a text at line breaks, at `|` and at a written `\n`. Some files of settings cannot contain line breaks. */
export function lines(text: string): readonly string[] | undefined {
  const parts = text
    .split(/\r?\n|\\n|\|/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return parts.length === 0 ? undefined : parts;
}

export function commaSeparated(text: string): readonly string[] | undefined {
  const parts = text.split(',').map((part) => part.trim());
  return parts.includes('') ? undefined : parts;
}

const PAYMENT_PROVIDERS = ['sandbox', 'manual', 'stripe'] as const;
type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number];

export function paymentProviders(text: string): readonly PaymentProviderName[] | undefined {
  const { parse } = oneOf(...PAYMENT_PROVIDERS);
  const names = text.split(',').map((part) => parse(part.trim()));
  const valid = names.filter((name) => name !== undefined);
  return valid.length === names.length ? valid : undefined;
}

const MAX_WEBHOOK_SECRETS = 2;

/** Parses one or two secrets, separated by commas. Two are needed while a secret is rotated. */
export function webhookSecrets(text: string): readonly string[] | undefined {
  const secrets = text.split(',').map((part) => part.trim());
  const isValid = secrets.every((secret) => /^whsec_[A-Za-z0-9+/=_-]{8,200}$/.test(secret));
  return isValid && secrets.length <= MAX_WEBHOOK_SECRETS ? secrets : undefined;
}

export function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' ? url : undefined;
}

const MAX_RETRIES = 10;
const MAX_DAYS_BETWEEN_RETRIES = 60;

/** Parses whole numbers of days, separated by commas. An empty text means no retries. */
export function retryDays(text: string): readonly number[] | undefined {
  if (text.trim() === '') return [];
  const { parse } = integerBetween(1, MAX_DAYS_BETWEEN_RETRIES);
  const days = text.split(',').map((part) => parse(part.trim()));
  const valid = days.filter((day) => day !== undefined);
  return valid.length === days.length && days.length <= MAX_RETRIES ? valid : undefined;
}

/** Values of `sslmode` that the driver knows. The driver treats all other values as `verify-full`. */
const SSL_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

export function postgresUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, searchParams, username, password, pathname } = new URL(text);
  const isKnown = searchParams.getAll('sslmode').every((mode) => SSL_MODES.includes(mode));
  const isEncoded = [username, password, pathname].every(canBeDecoded);
  return isKnown && isEncoded && /^postgres(ql)?:$/.test(protocol) ? text : undefined;
}

/** Returns false if the percent-encoding is wrong. `URL` accepts wrong encoding, but the database driver does not. */
function canBeDecoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
