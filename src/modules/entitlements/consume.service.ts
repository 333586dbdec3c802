import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { compare, type Rational } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { idempotencyKeyReused } from '../../platform/errors';
import { type Consumed, ConsumptionQueue, type Outcome } from './consumption-queue';
import {
  type Consumption,
  type ConsumptionRequest,
  decide,
  type Decision,
  firstOfKeys,
} from './domain/consumption';
import { type Held, holdingOf } from './domain/customer-entitlement';
import { allows } from './domain/holding';
import { entitlementNotMetered } from './entitlements.errors';
import { HoldingsRepository } from './holdings.repository';
import { type HeldAt, HoldingsService } from './holdings.service';
import { MeteredUsageService } from './metered-usage.service';
import { ReachedService } from './reached.service';

/** What keys were answered, by the keys. */
type Answers = ReadonlyMap<string, { readonly quantity: Rational; readonly answer: Consumption }>;

/** Uses up what customers have. */
@Injectable()
export class ConsumeService {
  private readonly queue = new ConsumptionQueue((...asked) => this.answerTogether(...asked));

  constructor(
    private readonly database: Database,
    private readonly holdings: HoldingsService,
    private readonly repository: HoldingsRepository,
    private readonly usage: MeteredUsageService,
    private readonly reached: ReachedService,
  ) {}

  /**
   * Takes a quantity of what a customer has, all of it or nothing, in one commit. Who asks at the same time is answered in
   * turn, so that no more is taken than there is. The same key again gets the same answer and takes nothing.
   * @throws {ProblemError} what `HoldingsService.lock` throws, `entitlement_not_metered`, `idempotency_key_reused`,
   *   what `MeteredUsageService.append` throws
   */
  async consume(consumed: Consumed, request: ConsumptionRequest): Promise<Consumption> {
    if (!this.database.isInTransaction) return this.queue.ask(consumed, request);
    // What is written belongs to the caller's commit, which nobody else can share.
    const [outcome] = await this.answerTogether(consumed, [request]);
    invariant(outcome !== undefined, 'A request has an outcome.');
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }

  private answerTogether(
    { customerId, key }: Consumed,
    requests: readonly ConsumptionRequest[],
  ): Promise<readonly Outcome[]> {
    return this.database.transaction(async () => {
      const seen = await this.holdings.read(customerId, key);
      if (seen.held.entitlement.type !== 'metered') throw entitlementNotMetered(key);
      const known = await this.answersTo(seen.held, requests);
      const holding = holdingOf(seen.held);
      const isAnyAllowed = withoutAnswer(requests, known).some(({ quantity }) =>
        allows(holding, quantity),
      );
      // Nobody waits for the row of what is used up.
      const answers = isAnyAllowed
        ? await this.take(await this.holdings.lockSeen(seen.held), requests)
        : await this.answerNew(seen, requests, known);
      return requests.map((request) => outcomeOf(request, answers));
    });
  }

  /** Decides once nobody else can: what was left before may be gone by now, and keys may have their answers. */
  private async take(locked: HeldAt, requests: readonly ConsumptionRequest[]): Promise<Answers> {
    return this.answerNew(locked, requests, await this.answersTo(locked.held, requests));
  }

  /** Decides what has no answer yet, and keeps and counts that. */
  private async answerNew(
    { held, now }: HeldAt,
    requests: readonly ConsumptionRequest[],
    known: Answers,
  ): Promise<Answers> {
    const { decisions, used } = decide(held, withoutAnswer(requests, known));
    if (decisions.length === 0) return known;
    const kept = await this.repository.keepAnswers(held, decisions, now);
    const allowed = decisions.filter(({ answer }) => answer.isAllowed);
    if (kept < decisions.length) {
      // Somebody who came at the same time has refused a key without the lock.
      if (allowed.length > 0 && kept > 0) throw new AnsweredMeanwhile();
      return this.answersTo(held, requests);
    }
    if (allowed.length > 0) await this.count(held, allowed, used, now);
    return new Map([
      ...known,
      ...decisions.map((decision) => [decision.idempotencyKey, decision] as const),
    ]);
  }

  private async answersTo(
    { row }: Held,
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

  /** Counts what is allowed: what a meter counts as events of it, which move what is used in the same commit. */
  private async count(
    held: Held,
    allowed: readonly Decision[],
    used: Rational,
    now: Date,
  ): Promise<void> {
    const { key, meterId } = held.entitlement;
    if (meterId === null) {
      await this.reached.move([{ held, used, now }]);
      return;
    }
    const { customerId } = held.row;
    const events = allowed.map(({ quantity, idempotencyKey }) => ({
      quantity,
      idempotencyKey: eventKeyOf(held, idempotencyKey),
    }));
    await this.usage.append({ customerId, meterId, key, now, events });
  }
}

/** What was decided together cannot stand; each alone can be decided again. */
class AnsweredMeanwhile extends Error {}

function withoutAnswer(
  requests: readonly ConsumptionRequest[],
  answers: Answers,
): readonly ConsumptionRequest[] {
  return firstOfKeys(requests).filter(({ idempotencyKey }) => !answers.has(idempotencyKey));
}

/** A key answers for the quantity that it was sent with first. */
function outcomeOf({ quantity, idempotencyKey }: ConsumptionRequest, answers: Answers): Outcome {
  const answered = answers.get(idempotencyKey);
  invariant(answered !== undefined, 'each key has an answer');
  if (compare(answered.quantity, quantity) !== 0) return { error: idempotencyKeyReused() };
  return { answer: answered.answer };
}

/** The same for the same consumption, another for every other one, and as short as keys of events have to be. */
function eventKeyOf({ row }: Held, idempotencyKey: string): string {
  const named = [row.customerId, row.entitlementId, idempotencyKey].join(' ');
  return `consume-${createHash('sha256').update(named).digest('hex')}`;
}

/** What was kept, with its instant as one. */
function toConsumption(kept: object): Consumption {
  const { isAllowed, state } = kept as Consumption;
  const resetsAt = state.resetsAt === null ? null : new Date(state.resetsAt);
  return { isAllowed, state: { ...state, resetsAt } };
}
