import { Injectable } from '@nestjs/common';
import { add, compare, type Rational } from '../../core/decimal';
import { Database } from '../../platform/database';
import { idempotencyKeyReused } from '../../platform/errors';
import { Outbox } from '../../platform/outbox';
import {
  type CustomerEntitlement,
  type Held,
  holdingOf,
  shown,
} from './domain/customer-entitlement';
import { allows, newlyReached } from './domain/holding';
import { entitlementNotMetered } from './entitlements.errors';
import { limitReached, thresholdReached } from './entitlements.events';
import { HoldingsRepository } from './holdings.repository';
import { HoldingsService } from './holdings.service';

/** Told of whatever thresholds an entitlement has. */
const LIMIT_PERCENT = 100;

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
    private readonly outbox: Outbox,
  ) {}

  /**
   * Takes a quantity of what a customer has, all of it or nothing, in one commit. Who asks at the same time waits for the
   * same row, so that no more is taken than there is. The same key again gets the same answer and takes nothing.
   * @throws {ProblemError} what `HoldingsService.lock` throws, `entitlement_not_metered`, `idempotency_key_reused`
   */
  consume(
    customerId: string,
    key: string,
    { quantity, idempotencyKey }: { readonly quantity: Rational; readonly idempotencyKey: string },
  ): Promise<Consumption> {
    return this.database.transaction(async () => {
      const { held, now } = await this.holdings.lock(customerId, key);
      if (held.entitlement.type !== 'metered') throw entitlementNotMetered(key);
      const earlier = await this.repository.findAnswer(held.row, idempotencyKey);
      if (earlier !== null) {
        if (compare(earlier.quantity, quantity) !== 0) throw idempotencyKeyReused();
        return toConsumption(earlier.answer);
      }
      const isAllowed = allows(holdingOf(held), quantity);
      const after = isAllowed ? await this.count(held, quantity, now) : held;
      const answer = { isAllowed, state: shown(after) };
      await this.repository.keepAnswer(held.row, idempotencyKey, { quantity, answer }, now);
      return answer;
    });
  }

  private count(held: Held, quantity: Rational, now: Date): Promise<Held> {
    return this.move(held, add(held.row.used, quantity), now);
  }

  /** Writes what is used now, and tells of what it reaches. */
  private async move(before: Held, used: Rational, now: Date): Promise<Held> {
    const { entitlement, row } = before;
    const moved = { entitlement, row: { ...row, used } };
    const reached = newlyReached(holdingOf(moved), [...entitlement.thresholds, LIMIT_PERCENT]);
    const after = { entitlement, row: { ...moved.row, told: [...row.told, ...reached] } };
    await this.repository.count(row.id, used, after.row.told, now);
    for (const percent of reached) {
      const fact = { held: after, percent };
      if (entitlement.thresholds.includes(percent)) {
        await this.outbox.record(thresholdReached, { after: fact, occurredAt: now });
      }
      if (percent === LIMIT_PERCENT) {
        await this.outbox.record(limitReached, { after: fact, occurredAt: now });
      }
    }
    return after;
  }
}

/** What was kept, with its instant as one. */
function toConsumption(kept: object): Consumption {
  const { isAllowed, state } = kept as Consumption;
  const resetsAt = state.resetsAt === null ? null : new Date(state.resetsAt);
  return { isAllowed, state: { ...state, resetsAt } };
}
