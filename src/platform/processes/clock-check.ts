import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { SystemClock } from '../clock/clock';
import { Jobs } from '../jobs';
import { Metrics } from '../observability/metrics';
import { ProcessSession } from './process-session';

const MAX_OFF_MS = 5_000;
const EVERY_MS = 60_000;
/** Pause after a failed comparison. */
const RETRY_MS = 1_000;

/** SQL of the database's time in milliseconds since 1970, so that no timestamp has to be parsed. */
const DATABASE_TIME = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;

/**
 * Compares the clock of this process with the clock of the database, at the start and every minute. If the clocks
 * differ by more than 5 s, the process does no due work and is not ready, because due times and ends of leases would be
 * wrong. A process without a number (see `ProcessSession`) does no due work either.
 */
@Injectable()
export class ClockCheck implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('clock-check');
  private readonly machine = new SystemClock();
  private readonly offsetSeconds: Gauge;
  /** Milliseconds by which the clock of this process is ahead of the database; null until the first comparison. */
  private aheadMs: number | null = null;
  private isOff = true;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;

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
    jobs.pauseWhile(() => this.isOff || session.number === null);
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

  /**
   * The reason why this process is not ready, as a sentence; null before the first comparison, and while its clock
   * is right.
   */
  get fault(): string | null {
    if (this.aheadMs === null || !this.isOff) return null;
    const seconds = (Math.abs(this.aheadMs) / 1_000).toFixed(1);
    const side = this.aheadMs > 0 ? 'ahead of' : 'behind';
    return `The clock of this process is ${seconds} s ${side} the clock of the database; at most 5 s are allowed.`;
  }

  /**
   * Compares the clocks once. The database read its clock at an unknown instant between request and answer. The difference
   * of the clocks is therefore uncertain by half of the time between the two, which is subtracted from it.
   * @throws {Error} when the database does not answer
   */
  async check(): Promise<void> {
    const sentAt = this.machine.now().getTime();
    const startedAt = performance.now();
    const [row] = await this.session.query<{ ms: number }>(DATABASE_TIME);
    const uncertaintyMs = (performance.now() - startedAt) / 2;
    if (row === undefined) return;
    this.aheadMs = sentAt + uncertaintyMs - row.ms;
    this.offsetSeconds.set(this.aheadMs / 1_000);
    this.apply(Math.abs(this.aheadMs) - uncertaintyMs > MAX_OFF_MS);
  }

  private apply(isOff: boolean): void {
    const wasOff = this.isOff;
    this.isOff = isOff;
    if (isOff) {
      const text = 'the clock of this process is wrong: it does no due work and is not ready';
      this.logger.error({ ahead_ms: Math.round(this.aheadMs ?? 0), reason: this.fault }, text);
    } else if (wasOff) {
      this.jobs.wakeAll();
    }
  }

  private async runAndPlan(): Promise<void> {
    let nextMs = EVERY_MS;
    try {
      await this.check();
    } catch (error) {
      nextMs = RETRY_MS;
      this.logger.debug({ err: error }, 'the clocks cannot be compared');
    }
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.runAndPlan(), nextMs);
  }
}
