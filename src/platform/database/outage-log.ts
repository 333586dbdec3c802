import { Logger } from '@nestjs/common';
import { asPostgresError, isDatabaseOutOfReach } from './postgres-errors';

const LOG_EVERY_MS = 10_000;
/**
 * An outage is over after this time without failures. One success does not end it: connections do not all fail at once,
 * and a server without free connections refuses only some calls.
 */
const QUIET_MS = 10_000;

interface OutageState {
  readonly beganAt: number;
  failedAt: number;
  /** Time of the first answer after the last failure; null if no answer has come since. */
  answeredAt: number | null;
  loggedAt: number;
  /** Failures since the last log line. */
  failures: number;
}

/** Logs an outage of the database every 10 s and at its end. */
export class OutageLog {
  private readonly logger = new Logger('database');
  private state: OutageState | null = null;
  private answeredAt = Number.NEGATIVE_INFINITY;

  /** @param now returns monotonic time in milliseconds */
  constructor(private readonly now = (): number => performance.now()) {}

  start(): number {
    return this.now();
  }

  async observe<Result>(answer: Promise<Result>): Promise<Result> {
    const startedAt = this.start();
    try {
      const result = await answer;
      this.recordAnswer();
      return result;
    } catch (error) {
      this.recordFailure(error, startedAt);
      throw error;
    }
  }

  /**
   * Records a failed call. A call to a hanging database fails only after its timeout. Therefore the outage begins at
   * the start of the first failed call. If another call was answered after that start, the outage begins at that
   * answer.
   */
  recordFailure(error: unknown, startedAt: number): void {
    if (!isDatabaseOutOfReach(error)) return;
    const now = this.now();
    this.state ??= {
      beganAt: Math.max(startedAt, this.answeredAt),
      failedAt: now,
      answeredAt: null,
      loggedAt: Number.NEGATIVE_INFINITY,
      failures: 0,
    };
    this.state.failedAt = now;
    this.state.answeredAt = null;
    this.state.failures += 1;
    if (now - this.state.loggedAt >= LOG_EVERY_MS) this.log(this.state, error);
  }

  recordAnswer(): void {
    this.answeredAt = this.now();
    if (this.state === null) return;
    this.state.answeredAt ??= this.answeredAt;
    if (this.answeredAt - this.state.failedAt < QUIET_MS) return;
    const lastedMs = Math.round(this.state.answeredAt - this.state.beganAt);
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
