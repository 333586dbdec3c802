import { Logger } from '@nestjs/common';
import { asPostgresError, isDatabaseOutOfReach } from './postgres-errors';

const LOG_EVERY_MS = 10_000;
/**
 * Time without failures after which an outage is over. A single success proves nothing, because not all connections
 * fail at once.
 */
const QUIET_MS = 2_000;

interface OutageState {
  readonly beganAt: number;
  failedAt: number;
  loggedAt: number;
  /** Failures since the last log line. */
  failures: number;
}

/** Logs outages of the database: every 10 s during an outage, and at its end. */
export class OutageLog {
  private readonly logger = new Logger('database');
  private state: OutageState | null = null;

  recordFailure(error: unknown): void {
    if (!isDatabaseOutOfReach(error)) return;
    const now = performance.now();
    this.state ??= { beganAt: now, failedAt: now, loggedAt: -Infinity, failures: 0 };
    this.state.failedAt = now;
    this.state.failures += 1;
    if (now - this.state.loggedAt >= LOG_EVERY_MS) this.log(this.state, error);
  }

  recordAnswer(): void {
    if (this.state === null || performance.now() - this.state.failedAt < QUIET_MS) return;
    const lastedMs = Math.round(this.state.failedAt - this.state.beganAt);
    this.state = null;
    this.logger.log({ lasted_ms: lastedMs }, 'the database answers again');
  }

  private log(state: OutageState, error: unknown): void {
    const { code, message } = asPostgresError(error) ?? (error as Error & { code?: string });
    const { failures, beganAt, failedAt } = state;
    // The error for a host name with several addresses has an empty message.
    const reason = message || code;
    this.logger.error(
      { reason, code, failures, for_ms: Math.round(failedAt - beganAt) },
      'the database is unreachable or does not work: requests are answered 503, due work waits',
    );
    state.loggedAt = failedAt;
    state.failures = 0;
  }
}
