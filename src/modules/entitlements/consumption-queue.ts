import { AsyncResource } from 'node:async_hooks';
import { invariant } from '../../core/invariant';
import { isDatabaseUnavailable } from '../../platform/database';
import type { Consumption, ConsumptionRequest } from './domain/consumption';

/** As many as one commit is to answer for. */
const MOST_TOGETHER = 500;

/** What is consumed, and by whom. */
export interface Consumed {
  readonly customerId: string;
  /** The key of the entitlement. */
  readonly key: string;
}

/** What becomes of a request: its own answer, or its own error. */
export type Outcome = { readonly answer: Consumption } | { readonly error: Error };

/** Answers requests in their order, in one commit; writes nothing when it throws. */
type Answering = (
  consumed: Consumed,
  requests: readonly ConsumptionRequest[],
) => Promise<readonly Outcome[]>;

interface Waiting {
  readonly request: ConsumptionRequest;
  readonly settle: (answer: Consumption) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Who consumes the same at the same time waits here, not with a connection each: whatever came while the last commit was
 * under way is answered with the next. Who consumes something else does not wait.
 */
export class ConsumptionQueue {
  private readonly queues = new Map<string, Waiting[]>();
  /** What is answered together is no part of the request that happened to come first. */
  private readonly outside = new AsyncResource('consumption-queue');

  constructor(private readonly answerTogether: Answering) {}

  /** The answer to the request, once that is committed. */
  ask(consumed: Consumed, request: ConsumptionRequest): Promise<Consumption> {
    const name = `${consumed.customerId} ${consumed.key}`;
    return new Promise((settle, fail) => {
      const one = { request, settle, fail };
      const queue = this.queues.get(name);
      if (queue !== undefined) {
        queue.push(one);
        return;
      }
      this.queues.set(name, [one]);
      this.outside.runInAsyncScope(() => void this.empty(name, consumed));
    });
  }

  private async empty(name: string, consumed: Consumed): Promise<void> {
    const queue = this.queues.get(name) ?? [];
    while (queue.length > 0) await this.answer(consumed, queue.splice(0, MOST_TOGETHER));
    this.queues.delete(name);
  }

  private async answer(consumed: Consumed, group: readonly Waiting[]): Promise<void> {
    try {
      const requests = group.map(({ request }) => request);
      const outcomes = await this.answerTogether(consumed, requests);
      invariant(outcomes.length === group.length, 'Each request has an outcome.');
      for (const [index, outcome] of outcomes.entries()) {
        if ('answer' in outcome) group[index]?.settle(outcome.answer);
        else group[index]?.fail(outcome.error);
      }
    } catch (error) {
      await this.answerApart(consumed, group, error);
    }
  }

  /** What one of them has broken is not to fail the others. */
  private async answerApart(
    consumed: Consumed,
    group: readonly Waiting[],
    error: unknown,
  ): Promise<void> {
    if (group.length === 1 || isDatabaseUnavailable(error)) {
      for (const { fail } of group) fail(error);
      return;
    }
    for (const one of group) await this.answer(consumed, [one]);
  }
}
