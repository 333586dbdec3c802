import { AsyncResource } from 'node:async_hooks';
import { invariant } from '../../core/invariant';
import { isDatabaseUnavailable } from '../../platform/database';
import type { Consumption, ConsumptionRequest } from './domain/consumption';

/** Maximum number of requests per commit. */
const MAX_BATCH_SIZE = 500;

/** Customer and entitlement that a request consumes. */
export interface ConsumptionTarget {
  readonly customerId: string;
  /** Key of the entitlement. */
  readonly key: string;
}

/** Result of one request of a batch: its answer or its error. */
export type ConsumptionOutcome = { readonly answer: Consumption } | { readonly error: Error };

/** Answers requests in their order, in one commit. Writes nothing if it throws. */
type AnswerBatch = (
  consumed: ConsumptionTarget,
  requests: readonly ConsumptionRequest[],
) => Promise<readonly ConsumptionOutcome[]>;

interface QueuedRequest {
  readonly request: ConsumptionRequest;
  readonly resolve: (answer: Consumption) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches concurrent consumptions of one balance. Requests wait in memory without a database connection; those that arrive
 * during a commit are answered by the next one. Requests for different balances do not wait for each other.
 */
export class ConsumptionQueue {
  private readonly queues = new Map<string, QueuedRequest[]>();
  /** Runs a batch outside the async context of the request that started it. */
  private readonly outside = new AsyncResource('consumption-queue');

  constructor(private readonly answerAll: AnswerBatch) {}

  /** Returns the answer to the request after its commit. */
  enqueue(consumed: ConsumptionTarget, request: ConsumptionRequest): Promise<Consumption> {
    const name = `${consumed.customerId} ${consumed.key}`;
    return new Promise((resolve, reject) => {
      const one = { request, resolve, reject };
      const queue = this.queues.get(name);
      if (queue !== undefined) {
        queue.push(one);
        return;
      }
      this.queues.set(name, [one]);
      this.outside.runInAsyncScope(() => void this.drain(name, consumed));
    });
  }

  private async drain(name: string, consumed: ConsumptionTarget): Promise<void> {
    const queue = this.queues.get(name) ?? [];
    while (queue.length > 0) await this.answerBatch(consumed, queue.splice(0, MAX_BATCH_SIZE));
    this.queues.delete(name);
  }

  private async answerBatch(
    consumed: ConsumptionTarget,
    group: readonly QueuedRequest[],
  ): Promise<void> {
    try {
      const requests = group.map(({ request }) => request);
      const outcomes = await this.answerAll(consumed, requests);
      invariant(outcomes.length === group.length, 'Each request has an outcome.');
      for (const [index, outcome] of outcomes.entries()) {
        if ('answer' in outcome) group[index]?.resolve(outcome.answer);
        else group[index]?.reject(outcome.error);
      }
    } catch (error) {
      await this.retryEach(consumed, group, error);
    }
  }

  /** Retries each request of a failed batch alone, so that one failure does not fail the others. */
  private async retryEach(
    consumed: ConsumptionTarget,
    group: readonly QueuedRequest[],
    error: unknown,
  ): Promise<void> {
    if (group.length === 1 || isDatabaseUnavailable(error)) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const one of group) await this.answerBatch(consumed, [one]);
  }
}
