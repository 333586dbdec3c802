import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Configuration } from '../config';
import { Jobs, WaitingRowsRepository } from '../jobs';
import { Metrics } from './metrics';

/** Counting stops here, so that a scrape costs the same however much is due. */
const MOST_COUNTED = 10_000;

/** A scrape waits for the database this long, in milliseconds. */
const LONGEST_MS = 2_000;

/** Measures what is due, by kind of work, at each scrape of a process that does due work. */
@Injectable()
export class DueWorkMetrics {
  private readonly waiting = new Gauge({
    name: 'due_work_waiting',
    help: `Items that are due now, by kind of work; counted up to ${MOST_COUNTED}.`,
    labelNames: ['work'] as const,
    registers: [],
    collect: () => this.measureInTime(),
  });

  private readonly oldestSeconds = new Gauge({
    name: 'due_work_oldest_seconds',
    help: 'Seconds since the item that is due longest fell due, by kind of work; 0 if nothing is due.',
    labelNames: ['work'] as const,
    registers: [],
    collect: () => this.measureInTime(),
  });

  private measuring: Promise<boolean> | null = null;

  constructor(
    private readonly jobs: Jobs,
    private readonly rows: WaitingRowsRepository,
    { doesDueWork }: Configuration,
    { registry }: Metrics,
  ) {
    if (!doesDueWork) return;
    registry.registerMetric(this.waiting);
    registry.registerMetric(this.oldestSeconds);
  }

  /** Sets both gauges. If the database does not answer in time, clears them, so that other metrics do not wait. */
  private async measureInTime(): Promise<void> {
    const isInTime = await Promise.race([
      this.measureOnce(),
      pause(LONGEST_MS, false, { ref: false }),
    ]);
    if (isInTime) return;
    this.waiting.reset();
    this.oldestSeconds.reset();
  }

  /** Both gauges, and scrapes while the database is slow, share one measurement. Returns false if it fails. */
  private measureOnce(): Promise<boolean> {
    this.measuring ??= this.measure()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.measuring = null;
      });
    return this.measuring;
  }

  private async measure(): Promise<void> {
    for (const { name, waiting: rows } of this.jobs.all) {
      if (rows === undefined) continue;
      const { waiting, oldestSeconds } = await this.rows.count(rows, MOST_COUNTED);
      this.waiting.set({ work: name }, waiting);
      this.oldestSeconds.set({ work: name }, oldestSeconds);
    }
  }
}
