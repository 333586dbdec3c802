import { Injectable, Logger } from '@nestjs/common';
import { groupBy } from '../../../core/grouping';
import { Clock } from '../../../platform/clock';
import { Batcher, type BatchOutcome } from '../../../platform/concurrency';
import { isLockTimeout } from '../../../platform/database';
import { type AttemptResult, DeliveriesRepository } from './deliveries.repository';

const MAX_RESULTS = 200;

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
   * Writes the result of an attempt, in one statement with other results. Resolves with true when the result is
   * written. Resolves with false if the result was ignored because the delivery was claimed again, discarded or
   * deleted.
   */
  write(result: AttemptResult): Promise<boolean> {
    return this.batcher.add(result);
  }

  /**
   * Writes all results together. If this times out while waiting for a lock, writes the results of each endpoint
   * separately. One locked endpoint then does not delay the results of others.
   */
  private async writeAll(
    results: readonly AttemptResult[],
  ): Promise<readonly BatchOutcome<boolean>[]> {
    try {
      return await this.writeTogether(results);
    } catch (error) {
      const groups = groupBy(results, ({ delivery }) => delivery.endpointId);
      if (!isLockTimeout(error) || groups.size === 1) throw error;
      const outcomes = new Map<AttemptResult, BatchOutcome<boolean>>();
      for (const some of groups.values()) {
        const written = await this.writeTogether(some).catch((failure: unknown) =>
          some.map(() => ({ error: failure })),
        );
        for (const [index, result] of some.entries()) {
          outcomes.set(result, written[index] ?? { error });
        }
      }
      return results.map((result) => outcomes.get(result) ?? { error });
    }
  }

  private async writeTogether(
    results: readonly AttemptResult[],
  ): Promise<readonly BatchOutcome<boolean>[]> {
    const counted = await this.deliveries.record(results, this.clock.now());
    return results.map((result) => {
      const answer = counted.has(result);
      if (!answer)
        this.logger.warn(
          { delivery_id: result.delivery.id },
          'ignored the result of a webhook attempt: its delivery was claimed again, discarded or deleted meanwhile',
        );
      return { answer };
    });
  }
}
