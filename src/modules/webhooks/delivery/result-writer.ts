import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { type AttemptResult, DeliveriesRepository } from './deliveries.repository';

/** Largest number of results that one statement writes. */
const MOST_AT_ONCE = 200;

interface WaitingResult {
  readonly result: AttemptResult;
  readonly written: (counted: boolean) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Writes the results of attempts in batches. Results that arrive during a write form the next batch, so that many results
 * share a statement and a single one does not wait.
 */
@Injectable()
export class ResultWriter {
  private readonly logger = new Logger('webhook-results');
  private waiting: WaitingResult[] = [];
  private writing = false;

  constructor(
    private readonly deliveries: DeliveriesRepository,
    private readonly clock: Clock,
  ) {}

  /** Resolves once the result is written: true when it counted, false when another process had claimed the delivery. */
  write(result: AttemptResult): Promise<boolean> {
    return new Promise((written, failed) => {
      this.waiting.push({ result, written, failed });
      if (!this.writing) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    // Attempts that end in the same turn of the event loop share a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, MOST_AT_ONCE);
      this.waiting = this.waiting.slice(MOST_AT_ONCE);
      await this.writeBatch(batch);
    }
    this.writing = false;
  }

  private async writeBatch(batch: readonly WaitingResult[]): Promise<void> {
    try {
      const counted = await this.deliveries.record(
        batch.map(({ result }) => result),
        this.clock.now(),
      );
      for (const { result, written } of batch) {
        const { id } = result.delivery;
        if (!counted.has(id))
          this.logger.warn(
            { delivery_id: id },
            'ignored the result of a webhook attempt whose lease had ended',
          );
        written(counted.has(id));
      }
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  }
}
