import { Injectable, Logger } from '@nestjs/common';
import type { Rational } from '../../core/decimal';
import type { BatchOutcome } from '../../platform/concurrency';
import { Clock } from '../../platform/clock';
import { Database, isDatabaseUnavailable, isLockTimeout } from '../../platform/database';
import { BalanceUsageService } from './balance-usage.service';
import { type Answers, outcomeOf, unanswered } from './consumption-outcomes';
import {
  type ConsumptionTarget,
  ConsumptionsRepository,
  type DecidedConsumptions,
} from './consumptions.repository';
import {
  type Consumption,
  type ConsumptionDecision,
  type ConsumptionRequest,
  decide,
} from './domain/consumption';
import type { BalanceRecord } from './domain/customer-entitlement';
import { MeteredUsageService } from './metered-usage.service';

const MAX_CACHED_KEYS = 10_000;

/** A request to consume the entitlement of a customer. */
export interface AskedConsumption extends ConsumptionTarget {
  readonly request: ConsumptionRequest;
}

/** Requests of one balance, in their order. */
interface AskedBalance extends ConsumptionTarget {
  readonly requests: ConsumptionRequest[];
}

/** A locked balance with its requests. */
interface LockedBalance extends AskedBalance {
  readonly record: BalanceRecord;
}

/** A balance with the decisions about its requests. */
interface DecidedBalance extends DecidedConsumptions {
  readonly balance: LockedBalance;
  /** Usage after the requests. */
  readonly used: Rational;
  /** Answers to all requests of the balance. */
  readonly answers: Answers;
  readonly allowed: readonly ConsumptionDecision[];
}

/** Thrown if a key of the group has an answer already. */
class AlreadyAnswered extends Error {}

/**
 * Consumes balances of many customers in one commit: a fixed number of statements, whatever the number of requests. Never
 * waits for a lock of a customer, and leaves out what needs more than that.
 */
@Injectable()
export class ConsumeSharedService {
  /** Meters of entitlements, by key. An entitlement keeps its meter; its key may be used again after its deletion. */
  private readonly meterIds = new Map<string, string | null>();

  private readonly logger = new Logger('consumptions');

  constructor(
    private readonly database: Database,
    private readonly consumptions: ConsumptionsRepository,
    private readonly usage: MeteredUsageService,
    private readonly balanceUsage: BalanceUsageService,
    private readonly clock: Clock,
  ) {}

  /**
   * Answers requests in their order, in one commit.
   * @returns undefined for a request that must be answered in a commit of its balance alone: the balance is locked, outdated,
   *   on a test clock, or its request may be refused with an error
   */
  async answerAll(
    asked: readonly AskedConsumption[],
  ): Promise<readonly (BatchOutcome<Consumption> | undefined)[]> {
    const outcomes = await this.decideAll(balancesOf(asked));
    return asked.map((one) => {
      const answers = outcomes.get(targetOf(one));
      return answers === undefined ? undefined : outcomeOf(one.request, answers);
    });
  }

  /** Returns the answers of the balances that could be consumed. */
  private async decideAll(asked: readonly AskedBalance[]): Promise<ReadonlyMap<string, Answers>> {
    const attempt = (isRepeated: boolean) =>
      this.database.transaction(() => this.consume(asked, isRepeated));
    try {
      return await attempt(false).catch((error: unknown) => {
        if (error instanceof AlreadyAnswered) return attempt(true);
        throw error;
      });
    } catch (error) {
      // Alone, a request gets the error that is its own, and does not fail the others.
      if (isDatabaseUnavailable(error) && !isLockTimeout(error)) throw error;
      this.logger.warn({ err: error }, 'consumptions failed together, and are done one by one');
      return new Map();
    }
  }

  /**
   * Locks balances, decides, and writes the answers and what they count. Lock order: streams, then balances.
   * @param isRepeated a repeated request is rare, so stored answers are looked up only after one was found
   */
  private async consume(
    asked: readonly AskedBalance[],
    isRepeated: boolean,
  ): Promise<ReadonlyMap<string, Answers>> {
    const now = this.clock.now();
    const locked = await this.lock(asked, now);
    if (locked.length === 0) return new Map();
    const known = isRepeated ? await this.findAnswers(locked) : [];
    const decided = locked.map((balance, index) => decideBalance(balance, known[index]));
    const count = decided.reduce((sum, { decisions }) => sum + decisions.length, 0);
    if ((await this.consumptions.store(decided, now)) < count) throw new AlreadyAnswered();
    const counted = decided.filter(({ allowed }) => allowed.length > 0);
    const [metered, others] = partition(
      counted,
      ({ record }) => record.entitlement.meterId !== null,
    );
    if (metered.length > 0) await this.usage.append(metered, now);
    await this.balanceUsage.write(others.map(({ record, used }) => ({ record, used, now })));
    return new Map(decided.map(({ balance, answers }) => [targetOf(balance), answers]));
  }

  /** Locks the streams of meters, then the balances. */
  private async lock(asked: readonly AskedBalance[], now: Date): Promise<readonly LockedBalance[]> {
    const meterIds = await this.meterIdsOf(asked);
    const isOpenIn = await this.usage.tryLock(
      asked.map(({ customerId, key }) => ({ customerId, meterId: meterIds.get(key) ?? null })),
    );
    const records = await this.consumptions.lockFree(asked, now);
    const locked: LockedBalance[] = [];
    for (const [index, balance] of asked.entries()) {
      const record = records[index];
      if (record === undefined) continue;
      const { meterId } = record.entitlement;
      if (meterId !== meterIds.get(balance.key)) this.meterIds.delete(balance.key);
      else if (meterId === null) locked.push({ ...balance, record });
      else if (isOpenIn(record) && (await this.usage.canAppend(meterId, balance.requests))) {
        locked.push({ ...balance, record });
      }
    }
    return locked;
  }

  /** Returns the meters of entitlements, by key. The caller compares them with the locked balances. */
  private async meterIdsOf(
    asked: readonly AskedBalance[],
  ): Promise<ReadonlyMap<string, string | null>> {
    const unknown = asked.filter(({ key }) => !this.meterIds.has(key));
    if (unknown.length > 0) {
      if (this.meterIds.size > MAX_CACHED_KEYS) this.meterIds.clear();
      const keys = [...new Set(unknown.map(({ key }) => key))];
      for (const { key, meterId } of await this.consumptions.findMeterIds(keys)) {
        this.meterIds.set(key, meterId);
      }
    }
    return this.meterIds;
  }

  private findAnswers(locked: readonly LockedBalance[]): Promise<readonly Answers[]> {
    return this.consumptions.find(
      locked.map(({ record: { row }, requests }) => ({
        key: row,
        idempotencyKeys: requests.map(({ idempotencyKey }) => idempotencyKey),
      })),
    );
  }
}

function targetOf({ customerId, key }: ConsumptionTarget): string {
  return `${customerId} ${key}`;
}

/** Groups the requests by balance. */
function balancesOf(asked: readonly AskedConsumption[]): readonly AskedBalance[] {
  const balances = new Map<string, AskedBalance>();
  for (const { request, ...target } of asked) {
    const balance = balances.get(targetOf(target));
    if (balance === undefined) balances.set(targetOf(target), { ...target, requests: [request] });
    else balance.requests.push(request);
  }
  return [...balances.values()];
}

function decideBalance(balance: LockedBalance, known: Answers = new Map()): DecidedBalance {
  const { record, requests } = balance;
  const { decisions, used } = decide(record, unanswered(requests, known));
  return {
    balance,
    record,
    decisions,
    used,
    allowed: decisions.filter(({ answer }) => answer.isAllowed),
    answers: new Map([
      ...known,
      ...decisions.map((decision) => [decision.idempotencyKey, decision] as const),
    ]),
  };
}

function partition<Item>(
  items: readonly Item[],
  isFirst: (item: Item) => boolean,
): readonly [readonly Item[], readonly Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
