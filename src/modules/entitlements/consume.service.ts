import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { compare, type Rational } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import { Batcher, type BatchOutcome } from '../../platform/concurrency';
import { Database, isDatabaseUnavailable } from '../../platform/database';
import { idempotencyKeyReused } from '../../platform/errors';
import {
  type Consumption,
  type ConsumptionRequest,
  decide,
  type ConsumptionDecision,
  firstOfKeys,
} from './domain/consumption';
import { type BalanceRecord, balanceOf } from './domain/customer-entitlement';
import { allows } from './domain/entitlement-balance';
import { entitlementNotMetered } from './entitlements.errors';
import { BalancesRepository } from './balances.repository';
import { type BalanceRecordAt, BalancesService } from './balances.service';
import { MeteredUsageService } from './metered-usage.service';
import { BalanceUsageService } from './balance-usage.service';

/** Stored answers, by idempotency key. */
type Answers = ReadonlyMap<string, { readonly quantity: Rational; readonly answer: Consumption }>;

/** Maximum number of requests per commit. */
const MAX_BATCH_SIZE = 500;

/** Customer and entitlement that a request consumes. */
export interface ConsumptionTarget {
  readonly customerId: string;
  /** Key of the entitlement. */
  readonly key: string;
}

/** Consumes metered entitlements. */
@Injectable()
export class ConsumeService {
  /** Requests wait for their commit in memory, without a database connection. */
  private readonly batcher = new Batcher(
    (asked: readonly (ConsumptionTarget & { readonly request: ConsumptionRequest })[]) => {
      const [consumed] = asked;
      invariant(consumed !== undefined, 'A batch has a request.');
      const requests = asked.map(({ request }) => request);
      return this.answerAll(consumed, requests);
    },
    { most: MAX_BATCH_SIZE, retriesEach: (error) => !isDatabaseUnavailable(error) },
  );

  constructor(
    private readonly database: Database,
    private readonly balances: BalancesService,
    private readonly repository: BalancesRepository,
    private readonly usage: MeteredUsageService,
    private readonly balanceUsage: BalanceUsageService,
  ) {}

  /**
   * Consumes a quantity in one commit, all of it or nothing. Concurrent requests are answered in turn, so that a hard limit
   * is never exceeded. A replay of the same key returns the first answer and consumes nothing.
   * @throws {ProblemError} what `BalancesService.lock` throws, `entitlement_not_metered`, `idempotency_key_reused`,
   *   what `MeteredUsageService.append` throws
   */
  async consume(consumed: ConsumptionTarget, request: ConsumptionRequest): Promise<Consumption> {
    if (!this.database.isInTransaction) {
      return this.batcher.add({ ...consumed, request }, `${consumed.customerId} ${consumed.key}`);
    }
    // In a caller's transaction the request cannot share a commit with others.
    const [outcome] = await this.answerAll(consumed, [request]);
    invariant(outcome !== undefined, 'A request has an outcome.');
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }

  private answerAll(
    { customerId, key }: ConsumptionTarget,
    requests: readonly ConsumptionRequest[],
  ): Promise<readonly BatchOutcome<Consumption>[]> {
    return this.database.transaction(async () => {
      const seen = await this.balances.read(customerId, key);
      if (seen.record.entitlement.type !== 'metered') throw entitlementNotMetered(key);
      const known = await this.findAnswers(seen.record, requests);
      const balance = balanceOf(seen.record);
      const isAnyAllowed = unanswered(requests, known).some(({ quantity }) =>
        allows(balance, quantity),
      );
      // Refusals need no row lock.
      const answers = isAnyAllowed
        ? await this.decideLocked(await this.balances.lockRecord(seen.record), requests)
        : await this.decideUnanswered(seen, requests, known);
      return requests.map((request) => outcomeOf(request, answers));
    });
  }

  /** Decides again under the row lock: the balance and the stored answers may have changed. */
  private async decideLocked(
    locked: BalanceRecordAt,
    requests: readonly ConsumptionRequest[],
  ): Promise<Answers> {
    return this.decideUnanswered(locked, requests, await this.findAnswers(locked.record, requests));
  }

  /** Decides the requests without an answer, stores the answers and counts what is allowed. */
  private async decideUnanswered(
    { record, now }: BalanceRecordAt,
    requests: readonly ConsumptionRequest[],
    known: Answers,
  ): Promise<Answers> {
    const { decisions, used } = decide(record, unanswered(requests, known));
    if (decisions.length === 0) return known;
    const kept = await this.repository.storeAnswers(record, decisions, now);
    const allowed = decisions.filter(({ answer }) => answer.isAllowed);
    if (kept < decisions.length) {
      // A concurrent request refused one of the keys, without the lock.
      if (allowed.length > 0 && kept > 0) throw new ConcurrentlyAnswered();
      return this.findAnswers(record, requests);
    }
    if (allowed.length > 0) await this.count(record, allowed, used, now);
    return new Map([
      ...known,
      ...decisions.map((decision) => [decision.idempotencyKey, decision] as const),
    ]);
  }

  private async findAnswers(
    { row }: BalanceRecord,
    requests: readonly ConsumptionRequest[],
  ): Promise<Answers> {
    const keys = requests.map(({ idempotencyKey }) => idempotencyKey);
    const kept = await this.repository.findAnswers(row, keys);
    return new Map(
      kept.map(({ idempotencyKey, quantity, answer }) => [
        idempotencyKey,
        { quantity, answer: toConsumption(answer) },
      ]),
    );
  }

  /** Counts allowed requests. With a meter, they are stored as usage events, which update the balance in the same commit. */
  private async count(
    record: BalanceRecord,
    allowed: readonly ConsumptionDecision[],
    used: Rational,
    now: Date,
  ): Promise<void> {
    const { key, meterId } = record.entitlement;
    if (meterId === null) {
      await this.balanceUsage.write([{ record, used, now }]);
      return;
    }
    const { customerId } = record.row;
    const events = allowed.map(({ quantity, idempotencyKey }) => ({
      quantity,
      idempotencyKey: eventKeyOf(record, idempotencyKey),
    }));
    await this.usage.append({ customerId, meterId, key, now, events });
  }
}

/** Thrown if a concurrent request answered a key of the batch. The queue then retries each request alone. */
class ConcurrentlyAnswered extends Error {}

function unanswered(
  requests: readonly ConsumptionRequest[],
  answers: Answers,
): readonly ConsumptionRequest[] {
  return firstOfKeys(requests).filter(({ idempotencyKey }) => !answers.has(idempotencyKey));
}

/** Returns the stored answer. A key that is reused with another quantity is an error. */
function outcomeOf(
  { quantity, idempotencyKey }: ConsumptionRequest,
  answers: Answers,
): BatchOutcome<Consumption> {
  const answered = answers.get(idempotencyKey);
  invariant(answered !== undefined, 'Each key has an answer.');
  if (compare(answered.quantity, quantity) !== 0) return { error: idempotencyKeyReused() };
  return { answer: answered.answer };
}

/** Derives the key of the usage event from the consumption, hashed to fit the length of event keys. */
function eventKeyOf({ row }: BalanceRecord, idempotencyKey: string): string {
  const named = [row.customerId, row.entitlementId, idempotencyKey].join(' ');
  return `consume-${createHash('sha256').update(named).digest('hex')}`;
}

/** Parses a stored answer. */
function toConsumption(kept: object): Consumption {
  const { isAllowed, state } = kept as Consumption;
  const resetsAt = state.resetsAt === null ? null : new Date(state.resetsAt);
  return { isAllowed, state: { ...state, resetsAt } };
}
