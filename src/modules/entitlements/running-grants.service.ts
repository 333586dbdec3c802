import { Injectable } from '@nestjs/common';
import type { Rational } from '../../core/decimal';
import { nextVersion } from '../../core/next-version';
import { Outbox, toEventRecord } from '../../platform/outbox';
import type { BalanceRecord } from './domain/customer-entitlement';
import { spreadOverGrants } from './domain/entitlement-balance';
import type { Grant } from './domain/grant';
import type { GrantView } from './domain/grant-terms';
import { grantBalancesOf, type Recalculation } from './domain/recalculation';
import type { BalanceKey } from './balances.repository';
import { grantExpired, grantLapsed } from './entitlements.events';
import { GrantsRepository } from './grants.repository';

@Injectable()
export class RunningGrantsService {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly outbox: Outbox,
  ) {}

  /** Returns the grants with no `endedAt`, oldest first. Some may have expired since the last recalculation. */
  find(key: BalanceKey): Promise<readonly Grant[]> {
    return this.grants.findRunning(key);
  }

  /**
   * Writes the grants that changed in a recalculation, and records events for the grants that ended in it.
   * @param record the balance before the recalculation, which the caller has locked
   * @param before the grants before the recalculation
   */
  async write(
    record: BalanceRecord,
    before: readonly Grant[],
    { grants, ended }: Recalculation,
    now: Date,
  ): Promise<void> {
    for (const grant of grants) {
      if (!before.includes(grant)) await this.grants.update(nextVersion(grant, now));
    }
    if (ended.length === 0) return;
    const remaining = remainingIn(record, before);
    const former = new Map(before.map((grant) => [grant.id, grant]));
    const over = ended.map((grant) => nextVersion(grant, now));
    for (const grant of over) await this.grants.update(grant);
    const { key } = record.entitlement;
    const events = over.map((grant) => {
      const active = former.get(grant.id) ?? { ...grant, end: null, endedAt: null };
      return toEventRecord(grant.end === 'lapsed' ? grantLapsed : grantExpired, {
        before: viewOf(active, key, remaining),
        after: viewOf(grant, key, new Map()),
        occurredAt: now,
      });
    });
    await this.outbox.recordAll(events);
  }
}

/** Returns the remaining quantity of each grant, by grant id; an empty map for an entitlement that is not metered. */
export function remainingIn(
  { entitlement, row }: BalanceRecord,
  grants: readonly Grant[],
): ReadonlyMap<string, Rational> {
  if (entitlement.type !== 'metered') return new Map();
  const parts = spreadOverGrants(grantBalancesOf(grants), row.allowance, row);
  return new Map(parts.map(({ grant, left }) => [grant.id, left]));
}

export function viewOf(
  grant: Grant,
  key: string,
  remaining: ReadonlyMap<string, Rational>,
): GrantView {
  return { grant, key, remaining: remaining.get(grant.id) ?? null };
}
