import { compare } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import type { BatchOutcome } from '../../platform/concurrency';
import { idempotencyKeyReused } from '../../platform/errors';
import type { StoredConsumption } from './consumptions.repository';
import { type Consumption, type ConsumptionRequest, firstOfKeys } from './domain/consumption';

/** Answers by idempotency key. */
export type Answers = ReadonlyMap<string, StoredConsumption>;

/**
 * Returns the requests whose idempotency keys have no answer. If several of these requests have the same key, returns
 * only the first.
 */
export function unanswered(
  requests: readonly ConsumptionRequest[],
  answers: Answers,
): readonly ConsumptionRequest[] {
  return firstOfKeys(requests).filter(({ idempotencyKey }) => !answers.has(idempotencyKey));
}

/**
 * Returns the answer to a request; or the error `idempotency_key_reused` if the answer under its key is for another
 * quantity.
 */
export function outcomeOf(
  { quantity, idempotencyKey }: ConsumptionRequest,
  answers: Answers,
): BatchOutcome<Consumption> {
  const answered = answers.get(idempotencyKey);
  invariant(answered !== undefined, 'Each key has an answer.');
  if (compare(answered.quantity, quantity) !== 0) return { error: idempotencyKeyReused() };
  return { answer: answered.answer };
}
