import { Injectable } from '@nestjs/common';
import type { Rational } from '../../core/decimal';
import { Outbox, told } from '../../platform/outbox';
import { type Held, holdingOf } from './domain/customer-entitlement';
import { newlyReached, withUsed } from './domain/holding';
import { limitReached, thresholdReached } from './entitlements.events';
import { HoldingsRepository } from './holdings.repository';

/** Told of whatever thresholds an entitlement has. */
const LIMIT_PERCENT = 100;

/** Usage of an entitlement as it is from now on, at the time of its customer. */
export interface MovedHolding {
  readonly held: Held;
  readonly used: Rational;
  readonly now: Date;
}

/** Writes what is used, and tells of what that reaches. */
@Injectable()
export class ReachedService {
  constructor(
    private readonly holdings: HoldingsRepository,
    private readonly outbox: Outbox,
  ) {}

  /** Writes what is used now of entitlements whose rows the caller's transaction holds; returns them as they are then. */
  async move(moved: readonly MovedHolding[]): Promise<readonly Held[]> {
    const after = moved.map(({ held: { entitlement, row }, used, now }) => {
      const counted = { entitlement, row: withUsed(row, used, row.allowance) };
      const percents = newlyReached(holdingOf(counted), [...entitlement.thresholds, LIMIT_PERCENT]);
      const held = { entitlement, row: { ...counted.row, told: [...row.told, ...percents] } };
      return { held, percents, now };
    });
    await this.holdings.count(after.map(({ held, now }) => ({ row: held.row, now })));
    const facts = after.flatMap(({ held, percents, now }) =>
      percents.map((percent) => ({ after: { held, percent }, occurredAt: now })),
    );
    await this.outbox.recordAll(
      facts.flatMap((fact) => [
        ...(fact.after.held.entitlement.thresholds.includes(fact.after.percent)
          ? [told(thresholdReached, fact)]
          : []),
        ...(fact.after.percent === LIMIT_PERCENT ? [told(limitReached, fact)] : []),
      ]),
    );
    return after.map(({ held }) => held);
  }
}
