import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Batcher, type BatchOutcome } from '../../../platform/concurrency';
import { type AttemptResult, DeliveriesRepository } from './deliveries.repository';

/** Largest number of results that one statement writes. */
const MAX_RESULTS = 200;

/** Writes the results of attempts in batches. */
@Injectable()
export class ResultWriter {
  private readonly logger = new Logger('webhook-results');
  private readonly batcher = new Batcher(
    (results: readonly AttemptResult[]) => this.writeAll(results),
    { maxItems: MAX_RESULTS, waitsForOthers: true },
  );

  constructor(
    private readonly deliveries: DeliveriesRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves with true once the result is written, or with false if it was ignored: another process had claimed the delivery,
   * or the delivery was discarded.
   */
  write(result: AttemptResult): Promise<boolean> {
    return this.batcher.add(result);
  }

  private async writeAll(
    results: readonly AttemptResult[],
  ): Promise<readonly BatchOutcome<boolean>[]> {
    const counted = await this.deliveries.record(results, this.clock.now());
    return results.map(({ delivery: { id } }) => {
      const answer = counted.has(id);
      if (!answer)
        this.logger.warn(
          { delivery_id: id },
          'ignored the result of a webhook attempt whose lease had ended',
        );
      return { answer };
    });
  }
}
