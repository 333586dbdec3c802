import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { add, compare, type Rational } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { idempotencyKeyReused } from '../../platform/errors';
import {
  type CustomerEntitlement,
  type Held,
  holdingOf,
  shown,
} from './domain/customer-entitlement';
import { allows } from './domain/holding';
import { entitlementNotMetered } from './entitlements.errors';
import { HoldingsRepository } from './holdings.repository';
import { type HeldAt, HoldingsService } from './holdings.service';
import { MeteredUsageService } from './metered-usage.service';
import { ReachedService } from './reached.service';

export interface ConsumptionRequest {
  readonly quantity: Rational;
  readonly idempotencyKey: string;
}

export interface Consumption {
  readonly isAllowed: boolean;
  /** As it is afterwards. */
  readonly state: CustomerEntitlement;
}

/** Uses up what customers have. */
@Injectable()
export class ConsumeService {
  constructor(
    private readonly database: Database,
    private readonly holdings: HoldingsService,
    private readonly repository: HoldingsRepository,
    private readonly usage: MeteredUsageService,
    private readonly reached: ReachedService,
  ) {}

  /**
   * Takes a quantity of what a customer has, all of it or nothing, in one commit. Who asks at the same time waits for the
   * same row, so that no more is taken than there is. The same key again gets the same answer and takes nothing.
   * @throws {ProblemError} what `HoldingsService.lock` throws, `entitlement_not_metered`, `idempotency_key_reused`,
   *   what `MeteredUsageService.append` throws
   */
  consume(customerId: string, key: string, request: ConsumptionRequest): Promise<Consumption> {
    return this.database.transaction(async () => {
      const seen = await this.holdings.read(customerId, key);
      if (seen.held.entitlement.type !== 'metered') throw entitlementNotMetered(key);
      const earlier = await this.earlier(seen.held, request);
      if (earlier !== null) return earlier;
      // Nobody waits for the row of what is used up.
      if (!allows(holdingOf(seen.held), request.quantity)) return this.refuse(seen, request);
      return this.take(await this.holdings.lockSeen(seen.held), request);
    });
  }

  /** Decides once nobody else can: what was left before may be gone by now. */
  private async take({ held, now }: HeldAt, request: ConsumptionRequest): Promise<Consumption> {
    const earlier = await this.earlier(held, request);
    if (earlier !== null) return earlier;
    if (!allows(holdingOf(held), request.quantity)) return this.refuse({ held, now }, request);
    const after = await this.count(held, request, now);
    const answer = { isAllowed: true, state: shown(after) };
    const kept = await this.repository.keepAnswer(held.row, request, answer, now);
    invariant(kept, 'who holds the row is the only one to use the key');
    return answer;
  }

  private async refuse({ held, now }: HeldAt, request: ConsumptionRequest): Promise<Consumption> {
    const answer = { isAllowed: false, state: shown(held) };
    if (await this.repository.keepAnswer(held.row, request, answer, now)) return answer;
    const earlier = await this.earlier(held, request);
    invariant(earlier !== null, 'a key that is taken has an answer');
    return earlier;
  }

  /** The answer that the key was given; null where it is new. */
  private async earlier(
    { row }: Held,
    { quantity, idempotencyKey }: ConsumptionRequest,
  ): Promise<Consumption | null> {
    const kept = await this.repository.findAnswer(row, idempotencyKey);
    if (kept === null) return null;
    if (compare(kept.quantity, quantity) !== 0) throw idempotencyKeyReused();
    return toConsumption(kept.answer);
  }

  /** Counts it: what a meter counts as an event of it, which moves what is used in the same commit. */
  private async count(
    held: Held,
    { quantity, idempotencyKey }: ConsumptionRequest,
    now: Date,
  ): Promise<Held> {
    const { entitlement, row } = held;
    const { key, meterId } = entitlement;
    if (meterId === null) {
      const [after] = await this.reached.move([{ held, used: add(row.used, quantity), now }]);
      return after ?? held;
    }
    const { customerId } = row;
    const event = { customerId, meterId, key, quantity, now };
    await this.usage.append({ ...event, idempotencyKey: eventKeyOf(held, idempotencyKey) });
    return (await this.repository.findFresh(customerId, key)) ?? held;
  }
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
