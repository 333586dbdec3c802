import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { SystemClock } from '../clock/clock';
import { serviceUnavailable } from '../errors';
import { Jobs } from '../jobs';
import { Metrics } from '../observability/metrics';
import { ProcessSession } from './process-session';

const MAX_OFF_MS = 5_000;
const EVERY_MS = 60_000;
/**
 * Pause between comparisons while the clock is wrong. It is short, because this process does not notice when the clock
 * of the database is set right.
 */
const EVERY_MS_WHILE_OFF = 2_000;
const COMPARISON_TIMEOUT_MS = 5_000;
/** Pause after a failed comparison. */
const RETRY_MS = 1_000;
const CHECK_JUMP_EVERY_MS = 10;

const NOT_COMPARED =
  'The clock of this process has not been compared with the clock of the database since its start, or since it was set.';

/** SQL that returns the time of the database in milliseconds since 1970, so that no timestamp has to be parsed. */
const DATABASE_TIME = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;

interface Comparison {
  /** Milliseconds by which the clock of this process was ahead of the database's; negative if it was behind. */
  readonly aheadMs: number;
  readonly uncertaintyMs: number;
  /** Clock of this process minus its monotonic clock, in milliseconds. */
  readonly minusMonotonicMs: number;
}

/**
 * Compares the clock of this process with the clock of the database, at the start and every minute. With a wrong clock,
 * due times, expiries and ends of leases would be wrong.
 * - While the clocks differ by more than 5 s, the process does no due work, changes nothing and is not ready. Compares
 *   the clocks every 2 s.
 * - Before each run of due work and each change, compares the clock with the monotonic clock, which is never set. If
 *   the clock may have become wrong by more than 5 s, or right again, waits for a new comparison, which begins at once.
 * - A process without a number (see `ProcessSession`) does no due work either.
 */
@Injectable()
export class ClockCheck implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('clock-check');
  private readonly machine = new SystemClock();
  private readonly offsetSeconds: Gauge;
  private last: Comparison | null = null;
  private isOff = true;
  /** True from a jump of the clock until the next comparison. */
  private hasJumped = false;
  /** Timer of the next comparison; null while a comparison is in progress. */
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  /** Time limit of `waitUntilRight`, in milliseconds. Tests raise it. */
  maxWaitMs = 1_000;

  constructor(
    private readonly session: ProcessSession,
    private readonly jobs: Jobs,
    metrics: Metrics,
  ) {
    this.offsetSeconds = new Gauge({
      name: 'clock_offset_seconds',
      help: 'Seconds by which the clock of this process is ahead of that of the database.',
      registers: [metrics.registry],
    });
    jobs.pauseWhile(() => !this.isRight || session.number === null);
  }

  /** Makes the first comparison before any due work. */
  async onModuleInit(): Promise<void> {
    await this.session.waitForFirstAttempt();
    await this.runAndPlan();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** The reason why the clock of this process cannot be used, as a sentence; null if it can. */
  private get fault(): string | null {
    if (this.last === null || this.detectJump()) return NOT_COMPARED;
    if (!this.isOff) return null;
    const { aheadMs } = this.last;
    const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    return `The clock of this process is ${seconds} s ${side} the clock of the database; at most 5 s are allowed.`;
  }

  get isRight(): boolean {
    return this.fault === null;
  }

  /** @throws {ProblemError} `service_unavailable` if the clock is wrong, or was set and not compared since */
  requireRight(): void {
    const { fault } = this;
    if (fault !== null) throw serviceUnavailable(fault);
  }

  /**
   * Waits up to 1 s for the comparison after a jump of the clock.
   * @throws {ProblemError} `service_unavailable` in the cases of {@link requireRight}
   */
  async waitUntilRight(): Promise<void> {
    const givesUpAt = performance.now() + this.maxWaitMs;
    while (this.detectJump() && performance.now() < givesUpAt) await sleep(CHECK_JUMP_EVERY_MS);
    this.requireRight();
  }

  /**
   * Compares the clocks once. The database read its clock at an unknown instant between request and answer. The measured
   * difference is therefore uncertain by half of the time between request and answer.
   * @throws {Error} when the database does not answer
   */
  async check(): Promise<void> {
    const sentAt = this.machine.now().getTime();
    const startedAt = performance.now();
    const [row] = await this.session.query<{ ms: number }>(DATABASE_TIME, COMPARISON_TIMEOUT_MS);
    const uncertaintyMs = (performance.now() - startedAt) / 2;
    if (row === undefined) return;
    const aheadMs = sentAt + uncertaintyMs - row.ms;
    this.offsetSeconds.set(aheadMs / 1_000);
    this.apply({ aheadMs, uncertaintyMs, minusMonotonicMs: sentAt - startedAt });
  }

  private apply(comparison: Comparison): void {
    const wasPaused = this.isOff || this.hasJumped;
    const isKnown = this.isOff && this.last !== null;
    this.last = comparison;
    this.isOff = isTooFarOff(comparison);
    this.hasJumped = false;
    if (this.isOff) {
      if (isKnown) return;
      const text =
        'the clock of this process is wrong: it does no due work, refuses changes and is not ready';
      this.logger.error({ ahead_ms: Math.round(comparison.aheadMs), reason: this.fault }, text);
    } else if (wasPaused) {
      this.jobs.wakeAll();
    }
  }

  /**
   * Returns true if the clock may have become wrong by more than 5 s, or right again, since the last comparison. Then
   * starts another comparison. There are two causes: the clock was set, or the machine was suspended. After a
   * suspension the clock may still be right, because the monotonic clock may have stopped meanwhile.
   */
  private detectJump(): boolean {
    if (this.hasJumped || this.last === null) return this.hasJumped;
    const minusMonotonicMs = this.machine.now().getTime() - performance.now();
    const jumpMs = minusMonotonicMs - this.last.minusMonotonicMs;
    const mayBeOff = isTooFarOff({ ...this.last, aheadMs: this.last.aheadMs + jumpMs });
    this.hasJumped = mayBeOff !== this.isOff;
    if (!this.hasJumped) return false;
    const text =
      'the clock of this process jumped: no due work and no changes until it is compared again';
    this.logger.warn({ jump_ms: Math.round(jumpMs) }, text);
    if (this.timer !== null) {
      clearTimeout(this.timer);
      void this.runAndPlan();
    }
    return true;
  }

  private async runAndPlan(): Promise<void> {
    this.timer = null;
    let nextMs = EVERY_MS;
    try {
      await this.check();
      if (this.isOff) nextMs = EVERY_MS_WHILE_OFF;
      // The comparison began before the jump.
      if (this.hasJumped) nextMs = 0;
    } catch (error) {
      nextMs = RETRY_MS;
      this.logger.debug({ err: error }, 'the clocks cannot be compared');
    }
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.runAndPlan(), nextMs);
  }
}

function isTooFarOff({
  aheadMs,
  uncertaintyMs,
}: Pick<Comparison, 'aheadMs' | 'uncertaintyMs'>): boolean {
  return Math.abs(aheadMs) - uncertaintyMs > MAX_OFF_MS;
}
