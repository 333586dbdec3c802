import { compare } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import type { BatchOutcome } from '../../platform/concurrency';
import { idempotencyKeyReused } from '../../platform/errors';
import type { StoredConsumption } from './consumptions.repository';
import { type Consumption, type ConsumptionRequest, firstOfKeys } from './domain/consumption';

/** Stored answers to consumption requests, by idempotency key. */
export type Answers = ReadonlyMap<string, StoredConsumption>;

/**
 * Returns the consumption requests whose idempotency key has no stored answer. Of several requests with the same key,
 * returns only the first.
 */
export function unanswered(
  requests: readonly ConsumptionRequest[],
  answers: Answers,
): readonly ConsumptionRequest[] {
  return firstOfKeys(requests).filter(({ idempotencyKey }) => !answers.has(idempotencyKey));
}

/**
 * Returns the stored answer for the idempotency key of a request. Returns the error `idempotency_key_reused` if that
 * answer is for another quantity.
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
