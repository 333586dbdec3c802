import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Batcher } from '../../platform/concurrency';
import { Database, isDatabaseUnavailable } from '../../platform/database';
import { ConsumeBalanceService } from './consume-balance.service';
import { type RequestedConsumption, ConsumeSharedService } from './consume-shared.service';
import type { ConsumptionTarget } from './consumptions.repository';
import type { Consumption, ConsumptionRequest } from './domain/consumption';

/** Maximum number of requests in a commit for one balance. */
const MAX_BATCH_SIZE = 500;
/** Maximum number of requests in a commit that may span balances. */
const MAX_SHARED_BATCH_SIZE = 200;

/** Longest wait after a batch for more requests. Callers usually send the next request soon after an answer. */
const LONGEST_WAIT_MS = 2;

@Injectable()
export class ConsumeService {
  /**
   * Collects requests for different balances into one commit. The requests wait in memory, without a database
   * connection.
   */
  private readonly shared = new Batcher<RequestedConsumption, Consumption | null>(
    async (requested) => {
      const outcomes = await this.consumeShared.answerAll(requested);
      return outcomes.map((outcome) => outcome ?? { answer: null });
    },
    { maxItems: MAX_SHARED_BATCH_SIZE, maxWaitForItemsMs: LONGEST_WAIT_MS },
  );
  /**
   * Collects the requests that {@link ConsumeSharedService} left unanswered. A batch has requests for one balance only.
   */
  private readonly alone = new Batcher(
    (requested: readonly RequestedConsumption[]) => {
      const [consumed] = requested;
      invariant(consumed !== undefined, 'A batch has a request.');
      return this.consumeBalance.answerAll(
        consumed,
        requested.map(({ request }) => request),
      );
    },
    { maxItems: MAX_BATCH_SIZE, retriesEach: (error) => !isDatabaseUnavailable(error) },
  );

  constructor(
    private readonly database: Database,
    private readonly consumeBalance: ConsumeBalanceService,
    private readonly consumeShared: ConsumeSharedService,
  ) {}

  /**
   * Consumes the whole quantity or nothing, in one commit. Concurrent requests for a balance are answered one after the
   * other, so that usage never exceeds a hard limit. A repeated request with the same idempotency key gets the first
   * answer and consumes nothing.
   * @throws {ProblemError} what `ConsumeBalanceService.answerAll` throws, `idempotency_key_reused`
   */
  async consume(consumed: ConsumptionTarget, request: ConsumptionRequest): Promise<Consumption> {
    if (this.database.isInTransaction) return this.consumeInTransaction(consumed, request);
    const requested = { ...consumed, request };
    const answer = await this.shared.add(requested);
    return answer ?? this.alone.add(requested, `${consumed.customerId} ${consumed.key}`);
  }

  private async consumeInTransaction(
    consumed: ConsumptionTarget,
    request: ConsumptionRequest,
  ): Promise<Consumption> {
    const [outcome] = await this.consumeBalance.answerAll(consumed, [request]);
    invariant(outcome !== undefined, 'A request has an outcome.');
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }
}
