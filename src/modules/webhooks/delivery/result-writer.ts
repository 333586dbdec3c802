import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { type AttemptResult, DeliveriesRepository } from './deliveries.repository';

/** As many results as one statement writes. */
const MOST_AT_ONCE = 200;

interface Waiting {
  readonly result: AttemptResult;
  readonly written: (counted: boolean) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Writes the results of attempts, those that end while one batch is being written together in the next: one statement for
 * many, and no waiting where there are few.
 */
@Injectable()
export class ResultWriter {
  private readonly logger = new Logger('webhook-results');
  private waiting: Waiting[] = [];
  private writing = false;

  constructor(
    private readonly database: Database,
    private readonly deliveries: DeliveriesRepository,
    private readonly clock: Clock,
  ) {}

  /** Resolves once the result is written: true when it counted, false when the lease had gone to somebody else. */
  write(result: AttemptResult): Promise<boolean> {
    return new Promise((written, failed) => {
      this.waiting.push({ result, written, failed });
      if (!this.writing) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    // Attempts that end in the same turn of the event loop go together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, MOST_AT_ONCE);
      this.waiting = this.waiting.slice(MOST_AT_ONCE);
      await this.writeBatch(batch);
    }
    this.writing = false;
  }

  private async writeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      // In a transaction for its retries: a deletion may lock the same rows in another order.
      const counted = await this.database.transaction(() =>
        this.deliveries.record(
          batch.map(({ result }) => result),
          this.clock.now(),
        ),
      );
      for (const { result, written } of batch) {
        const { id } = result.delivery;
        if (!counted.has(id)) this.logger.warn({ delivery_id: id }, 'a late result was refused');
        written(counted.has(id));
      }
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  }
}
