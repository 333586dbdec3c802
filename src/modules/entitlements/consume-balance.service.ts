import { Injectable } from '@nestjs/common';
import type { Rational } from '../../core/decimal';
import type { BatchOutcome } from '../../platform/concurrency';
import { Database } from '../../platform/database';
import { PlannedRollback } from '../../platform/errors';
import { CustomersService } from '../customers';
import { BalanceUsageService } from './balance-usage.service';
import { type BalanceRecordAt, BalancesService } from './balances.service';
import { type Answers, outcomeOf, unanswered } from './consumption-outcomes';
import { type ConsumptionTarget, ConsumptionsRepository } from './consumptions.repository';
import {
  type Consumption,
  type ConsumptionDecision,
  type ConsumptionRequest,
  decide,
} from './domain/consumption';
import type { BalanceRecord } from './domain/customer-entitlement';
import { allows } from './domain/entitlement-balance';
import { entitlementNotMetered } from './entitlements.errors';
import { MeteredUsageService } from './metered-usage.service';

/**
 * Answers consumption requests for one balance in one commit. Waits while another transaction locks the balance.
 * Recalculates an outdated balance.
 */
@Injectable()
export class ConsumeBalanceService {
  constructor(
    private readonly database: Database,
    private readonly balances: BalancesService,
    private readonly consumptions: ConsumptionsRepository,
    private readonly usage: MeteredUsageService,
    private readonly balanceUsage: BalanceUsageService,
    private readonly customers: CustomersService,
  ) {}

  /**
   * @throws {ProblemError} what `BalancesService.lock` and `MeteredUsageService.append` throw;
   *   `entitlement_not_metered`; `entitlement_not_consumable` if the meter cannot count any consumption
   */
  answerAll(
    { customerId, key }: ConsumptionTarget,
    requests: readonly ConsumptionRequest[],
  ): Promise<readonly BatchOutcome<Consumption>[]> {
    return this.database.transaction(async () => {
      const seen = await this.balances.read(customerId, key);
      if (seen.record.entitlement.type !== 'metered') throw entitlementNotMetered(key);
      const known = await this.findAnswers(seen.record, requests);
      const open = unanswered(requests, known);
      if (open.length > 0) await this.usage.requireConsumable(seen.record);
      const isAnyAllowed = open.some(({ quantity }) => allows(seen.record, quantity));
      // A refusal is kept for ever. On a test clock, it is decided while the clock cannot move.
      const mustLock = isAnyAllowed || (open.length > 0 && seen.record.row.testClockId !== null);
      // Answers refer to the customer. A deletion also locks the customer before its usage.
      if (mustLock) await this.customers.lockForReference(customerId);
      // If all requests are refused, the balance does not change, so its row is not locked in real time.
      const answers = mustLock
        ? await this.decideLocked(await this.balances.lockRecord(seen.record), requests)
        : await this.decideUnanswered(seen, requests, known);
      return requests.map((request) => outcomeOf(request, answers));
    });
  }

  /**
   * Allows or refuses requests for a locked balance. First reads the stored answers again, because another transaction
   * may have stored answers before this one got the lock.
   */
  private async decideLocked(
    locked: BalanceRecordAt,
    requests: readonly ConsumptionRequest[],
  ): Promise<Answers> {
    return this.decideUnanswered(locked, requests, await this.findAnswers(locked.record, requests));
  }

  /** Decides the requests that have no stored answer in `known`. Returns the answers to all requests. */
  private async decideUnanswered(
    { record, now }: BalanceRecordAt,
    requests: readonly ConsumptionRequest[],
    known: Answers,
  ): Promise<Answers> {
    const { decisions, used } = decide(record, unanswered(requests, known));
    if (decisions.length === 0) return known;
    const kept = await this.consumptions.store([{ record, decisions }], now);
    const allowed = decisions.filter(({ answer }) => answer.isAllowed);
    if (kept < decisions.length) {
      // A concurrent request has stored a refusal for one of the keys. Refusals are stored without the row lock.
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
    const idempotencyKeys = requests.map(({ idempotencyKey }) => idempotencyKey);
    const [answers] = await this.consumptions.find([{ key: row, idempotencyKeys }]);
    return answers ?? new Map();
  }

  /**
   * Counts the quantities of allowed requests as usage. If the entitlement has a meter, stores usage events, which
   * update the balance in the same commit.
   */
  private async count(
    record: BalanceRecord,
    allowed: readonly ConsumptionDecision[],
    used: Rational,
    now: Date,
  ): Promise<void> {
    if (record.entitlement.meterId === null) await this.balanceUsage.write([{ record, used, now }]);
    else await this.usage.append(record, allowed, now);
  }
}

/**
 * Thrown if concurrent requests have stored answers for some keys of the batch, but not for all. The batcher then
 * retries each request alone.
 */
class ConcurrentlyAnswered extends PlannedRollback {}
