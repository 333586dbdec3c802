import type { LoggerService } from '@nestjs/common';
import pino, { type Logger } from 'pino';
import type { Configuration } from '../config';
import { isDatabaseOutOfReach } from '../database';

/** Never written to a log, wherever in a logged object they stand (to three levels). */
const SECRET_FIELDS = [
  'password',
  'passwordHash',
  'password_hash',
  'secret',
  'token',
  'authorization',
  'cookie',
];

export function createLogger(
  level: Configuration['logLevel'],
  destination: pino.DestinationStream = standardOutput(),
): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: '[redacted]',
      },
    },
    destination,
  );
}

/**
 * Writes at once, and nothing more once writing fails, as it does when the terminal was closed: what pino keeps for later
 * it would try to write until it succeeds, and the process would never end.
 */
function standardOutput(): pino.DestinationStream {
  const stream = pino.destination({ dest: 1, sync: true });
  stream.on('error', () => {
    stream.write = () => true;
  });
  return stream;
}

/** Errors of the database carry the parameters of their statement, and with them hashes and secrets: leave those out. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint } = error as { readonly code?: unknown; readonly constraint?: unknown };
  return { type: error.name, message: error.message, code, constraint, stack: error.stack };
}

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** What Nest says of putting itself together: of use only to whoever debugs that. */
const WIRING: ReadonlySet<string> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** Nest's own messages, in the form of all others. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(WIRING.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest passes further texts, and last the name of whoever logs. */
  private write(severity: Level, message: unknown, rest: readonly unknown[]): void {
    const level = isOfAnOutage(message) ? 'debug' : severity;
    const context = rest.at(-1);
    const texts = rest.slice(0, -1).filter((part) => typeof part === 'string');
    if (message instanceof Error) {
      this.logger[level]({ context, err: message }, texts.join(' '));
    } else if (typeof message === 'object' && message !== null) {
      this.logger[level]({ context, ...message }, texts.join(' '));
    } else {
      this.logger[level]({ context }, [String(message), ...texts].join(' '));
    }
  }
}

/** What fails because the database is out of reach: hundreds a second, and `Database` tells why. */
function isOfAnOutage(message: unknown): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'err' in message &&
    isDatabaseOutOfReach(message.err)
  );
}
