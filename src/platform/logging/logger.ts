import { writeSync } from 'node:fs';
import type { LoggerService } from '@nestjs/common';
import pino, { type Logger } from 'pino';
import type { Configuration } from '../config';
import { isDatabaseOutOfReach } from '../database';
import { traceIds } from '../tracing';
import { batchedOutput } from './batched-output';
import { steadyOutput } from './steady-output';

/** File descriptor of the standard output. */
const STANDARD_OUTPUT = 1;

/** Fields whose values are redacted at the top three levels of a logged object. */
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
      mixin: () => traceIds(),
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

function standardOutput(): pino.DestinationStream {
  return batchedOutput(steadyOutput((bytes) => writeSync(STANDARD_OUTPUT, bytes)));
}

/** Omits the parameters of a failed SQL statement from its error, because they may contain hashes and secrets. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint } = error as { readonly code?: unknown; readonly constraint?: unknown };
  return { type: error.name, message: error.message, code, constraint, stack: error.stack };
}

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** Sources of Nest's messages about its start, which are logged at level `debug`. */
const WIRING: ReadonlySet<string> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/**
 * Sources of errors that end Nest's start. They are logged at level `debug`, because the same errors are also thrown
 * and then explained.
 */
const RETHROWN: ReadonlySet<string> = new Set(['ExceptionHandler', 'NestApplication']);

/** Writes Nest's own messages in the format of all other log lines. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(WIRING.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write(RETHROWN.has(String(rest.at(-1))) ? 'debug' : 'error', message, rest);
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

  /**
   * Writes one line. Nest passes additional texts in `rest`; the last one is the name of the source. An error caused by
   * a database outage gets level `debug`.
   */
  private write(severity: Level, message: unknown, rest: readonly unknown[]): void {
    const level = isOutageError(message) ? 'debug' : severity;
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

/** Returns true for errors of a database outage. There may be hundreds per second; `OutageLog` reports the outage. */
function isOutageError(message: unknown): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'err' in message &&
    isDatabaseOutOfReach(message.err)
  );
}
