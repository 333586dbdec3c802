import { Injectable, Logger } from '@nestjs/common';
import { BoundedMap } from '../../platform/caching';
import type { BatchOutcome } from '../../platform/concurrency';
import { Clock } from '../../platform/clock';
import { Database, isOutage, violatedConstraint } from '../../platform/database';
import { PlannedRollback } from '../../platform/errors';
import { ProcessSession } from '../../platform/processes';
import { BalanceUsageService, type ReachedBalance, withUsage } from './balance-usage.service';
import { type Answers, outcomeOf, unanswered } from './consumption-outcomes';
import { type ConsumptionTarget, ConsumptionsRepository } from './consumptions.repository';
import { type Consumption, type ConsumptionRequest, decide } from './domain/consumption';
import { WrittenBalances } from './written-balances';
import { MeteredUsageService } from './metered-usage.service';
import {
  type SharedBalance,
  SharedConsumptionsRepository,
  type SharedTarget,
  type ConsumptionWrite,
} from './shared-consumptions.repository';

const MAX_CACHED_KEYS = 10_000;

export interface RequestedConsumption extends ConsumptionTarget {
  readonly request: ConsumptionRequest;
}

/** Consumption requests for one balance, in order of arrival. */
interface RequestedBalance extends ConsumptionTarget {
  readonly requests: ConsumptionRequest[];
}

/** A balance with the requests for it. The balance is locked, or remembered from the last write of this process. */
interface FoundBalance {
  readonly requested: RequestedBalance;
  readonly target: SharedTarget;
  readonly balance: SharedBalance;
}

interface DecidedBalance extends ConsumptionWrite {
  readonly requested: RequestedBalance;
  readonly target: SharedTarget;
  /** The balance with its new usage; null if no request was allowed. */
  readonly reached: ReachedBalance | null;
  readonly answers: Answers;
}

/** Rolls back a batch, because one of its idempotency keys already has a stored answer. */
class AlreadyAnswered extends PlannedRollback {}

/**
 * Answers consumption requests for many balances in one commit, with a fixed number of statements. Leaves out requests
 * that would have to wait for a lock, or that need further statements.
 */
@Injectable()
export class ConsumeSharedService {
  /**
   * Event name that the meter of an entitlement counts, by entitlement key; null without a meter. An entry is outdated
   * if the entitlement was deleted and a new one has the same key. Balances of the new entitlement are then left out,
   * because they have no window for the old event name.
   */
  private readonly eventNames = new BoundedMap<string, string | null>(MAX_CACHED_KEYS);
  private readonly writtenBalances = new WrittenBalances();
  /**
   * Number of starts and ends of the database session. A balance that was read before the latest start or end is not
   * remembered.
   */
  private sessionChanges = 0;

  private readonly logger = new Logger('consumptions');

  constructor(
    private readonly database: Database,
    private readonly consumptions: ConsumptionsRepository,
    private readonly shared: SharedConsumptionsRepository,
    private readonly usage: MeteredUsageService,
    private readonly balanceUsage: BalanceUsageService,
    private readonly clock: Clock,
    session: ProcessSession,
  ) {
    session.onChange(() => {
      this.sessionChanges += 1;
      this.writtenBalances.forgetAll();
    });
  }

  /**
   * Answers requests with at most two commits. A single statement answers the requests for the balances that
   * {@link WrittenBalances} remembers. A transaction answers the others.
   * @returns an outcome for each request, in the order of the requests. Undefined if a transaction failed, or if the
   *   balance needs a commit of its own. It does, for example, if it is locked, outdated or on a test clock.
   */
  async answerAll(
    requested: readonly RequestedConsumption[],
  ): Promise<readonly (BatchOutcome<Consumption> | undefined)[]> {
    const balances = balancesOf(requested);
    const { answers, isRepeated } = await this.consumeUnchanged(balances);
    const others = balances.filter((balance) => !answers.has(targetOf(balance)));
    const outcomes =
      others.length === 0
        ? answers
        : new Map([...answers, ...(await this.decideAll(others, isRepeated))]);
    return requested.map((one) => {
      const ofBalance = outcomes.get(targetOf(one));
      return ofBalance === undefined ? undefined : outcomeOf(one.request, ofBalance);
    });
  }

  /**
   * Answers requests for balances that have not changed since this process last wrote them. Leaves out balances whose
   * usage reaches a threshold, because the event of the threshold needs further statements. If an idempotency key was
   * used before, answers no request and returns `isRepeated` true.
   */
  private async consumeUnchanged(
    requested: readonly RequestedBalance[],
  ): Promise<{ readonly answers: ReadonlyMap<string, Answers>; readonly isRepeated: boolean }> {
    const now = this.clock.now();
    const { sessionChanges } = this;
    const decided: DecidedBalance[] = [];
    try {
      for (const balance of requested) {
        const last = this.writtenBalances.findOwn(targetOf(balance), now);
        const one = last && (await this.decideBalance({ requested: balance, ...last }, now));
        if (one && (one.reached?.percents ?? []).length === 0) decided.push(one);
      }
      if (decided.length === 0 || sessionChanges !== this.sessionChanges) {
        return { answers: new Map(), isRepeated: false };
      }
      const written = await this.shared.consumeUnchanged(decided, now);
      for (const [index, one] of decided.entries()) {
        if (written.has(index)) this.remember(one, sessionChanges);
        else this.writtenBalances.suspend(targetOf(one.requested));
      }
      return {
        answers: answersOf(decided.filter((_, index) => written.has(index))),
        isRepeated: false,
      };
    } catch (error) {
      for (const one of decided) this.writtenBalances.forget(targetOf(one.requested));
      if (isOutage(error)) throw error;
      const isRepeated = violatedConstraint(error) !== null;
      if (!isRepeated) {
        const text = 'consumptions of unchanged balances failed, and are repeated';
        this.logger.warn({ err: error }, text);
      }
      return { answers: new Map(), isRepeated };
    }
  }

  /**
   * Answers consumption requests in one commit. Returns the answers by balance. Leaves out balances that need a commit
   * of their own, or all balances if the commit fails.
   * @param isRepeated true if an idempotency key is known to have a stored answer
   */
  private async decideAll(
    requested: readonly RequestedBalance[],
    isRepeated: boolean,
  ): Promise<ReadonlyMap<string, Answers>> {
    const { sessionChanges } = this;
    const attempt = (looksUp: boolean) =>
      this.database.transaction(() => this.consume(requested, looksUp));
    try {
      const decided = await attempt(isRepeated).catch((error: unknown) => {
        if (error instanceof AlreadyAnswered && !isRepeated) return attempt(true);
        throw error;
      });
      for (const one of decided) this.remember(one, sessionChanges);
      return answersOf(decided);
    } catch (error) {
      // The requests are then answered one by one, so that each request gets its own error and does not fail the
      // others.
      if (isOutage(error)) throw error;
      this.logger.warn({ err: error }, 'consumptions failed together, and are done one by one');
      return new Map();
    }
  }

  /**
   * Remembers a balance for later requests, unless the database session has changed since the balance was read.
   * @param sessionChanges value of the field `sessionChanges` when the balance was read
   */
  private remember(decided: DecidedBalance, sessionChanges: number): void {
    if (sessionChanges !== this.sessionChanges) return;
    this.writtenBalances.recordWrite(targetOf(decided.requested), decided.target, decided);
  }

  /**
   * Locks streams (a stream is the usage events of one name of one customer), then balances. Allows or refuses the
   * requests for the locked balances, and writes answers, usage and events.
   * @param isRepeated true to read the stored answers first. The first attempt skips this read, because repeated
   *   requests are rare.
   * @throws {AlreadyAnswered} if an idempotency key has a stored answer that was not read
   */
  private async consume(
    requested: readonly RequestedBalance[],
    isRepeated: boolean,
  ): Promise<readonly DecidedBalance[]> {
    const now = this.clock.now();
    const locked = await this.lock(requested, now);
    if (locked.length === 0) return [];
    const known = isRepeated ? await this.findAnswers(locked) : [];
    const decided: DecidedBalance[] = [];
    for (const [index, balance] of locked.entries()) {
      const one = await this.decideBalance(balance, now, known[index]);
      if (one !== null) decided.push(one);
    }
    if (!(await this.shared.write(decided, now))) throw new AlreadyAnswered();
    await this.balanceUsage.recordReached(decided.flatMap(({ reached }) => reached ?? []));
    return decided;
  }

  /**
   * Locks the usage streams of the balances, then the balances. Returns the balances that were locked without waiting.
   */
  private async lock(
    requested: readonly RequestedBalance[],
    now: Date,
  ): Promise<readonly FoundBalance[]> {
    const eventNames = await this.eventNamesOf(requested);
    const targets = requested.flatMap((balance) => {
      const eventName = eventNames.get(balance.key);
      if (eventName === undefined) return [];
      const { customerId, key } = balance;
      return { requested: balance, target: { customerId, key, eventName } };
    });
    const found = await this.shared.lock(
      targets.map(({ target }) => target),
      now,
    );
    return targets.flatMap((one, index) => {
      const balance = found[index];
      if (balance !== undefined) return { ...one, balance };
      // The key may belong to a newer entitlement with another event name.
      this.eventNames.delete(one.target.key);
      return [];
    });
  }

  /**
   * Allows or refuses the requests for a balance. Returns null if the meter cannot count the quantity of one request.
   * The balance then needs a commit of its own, in which only that request fails.
   */
  private async decideBalance(
    { requested, target, balance }: FoundBalance,
    now: Date,
    known: Answers = new Map(),
  ): Promise<DecidedBalance | null> {
    const { record } = balance;
    if (!(await this.usage.countsAll(record, requested.requests))) return null;
    const { decisions, used } = decide(record, unanswered(requested.requests, known));
    const allowed = decisions.filter(({ answer }) => answer.isAllowed);
    const events = (await this.usage.eventsOf(record, allowed)) ?? [];
    const reached = allowed.length > 0 ? withUsage({ record, used, now }) : null;
    return {
      requested,
      target,
      balance,
      after: reached?.record ?? null,
      decisions,
      events,
      reached,
      answers: new Map([
        ...known,
        ...decisions.map((decision) => [decision.idempotencyKey, decision] as const),
      ]),
    };
  }

  private async eventNamesOf(
    requested: readonly RequestedBalance[],
  ): Promise<ReadonlyMap<string, string | null>> {
    const unknown = requested.filter(({ key }) => !this.eventNames.has(key));
    if (unknown.length > 0) {
      const keys = [...new Set(unknown.map(({ key }) => key))];
      for (const { key, meterId } of await this.consumptions.findMeterIds(keys)) {
        const eventName = meterId === null ? null : await this.usage.eventNameOf(meterId);
        this.eventNames.set(key, eventName);
      }
    }
    return this.eventNames;
  }

  private findAnswers(locked: readonly FoundBalance[]): Promise<readonly Answers[]> {
    return this.consumptions.find(
      locked.map(({ balance, requested }) => ({
        key: balance.record.row,
        idempotencyKeys: requested.requests.map(({ idempotencyKey }) => idempotencyKey),
      })),
    );
  }
}

function answersOf(decided: readonly DecidedBalance[]): ReadonlyMap<string, Answers> {
  return new Map(decided.map(({ requested, answers }) => [targetOf(requested), answers]));
}

function targetOf({ customerId, key }: ConsumptionTarget): string {
  return `${customerId} ${key}`;
}

function balancesOf(requested: readonly RequestedConsumption[]): readonly RequestedBalance[] {
  const balances = new Map<string, RequestedBalance>();
  for (const { request, ...target } of requested) {
    const balance = balances.get(targetOf(target));
    if (balance === undefined) balances.set(targetOf(target), { ...target, requests: [request] });
    else balance.requests.push(request);
  }
  return [...balances.values()];
}
