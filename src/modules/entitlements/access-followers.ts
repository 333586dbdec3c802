import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CustomerDeletions, CustomersService } from '../customers';
import { type Subscription, type SubscriptionChange, SubscriptionWatchers } from '../subscriptions';
import type { Entitlement } from './domain/entitlement';
import { EntitlementsRepository } from './entitlements.repository';
import { type AccessHolder, HoldingsRepository, type Pair } from './holdings.repository';
import { SettleHoldingService } from './settle-holding.service';
import { SourcesService } from './sources.service';

/** Keeps what customers have in step with what lies below, in the commits that change it. */
@Injectable()
export class AccessFollowers implements OnModuleInit {
  constructor(
    private readonly subscriptions: SubscriptionWatchers,
    private readonly deletions: CustomerDeletions,
    private readonly customers: CustomersService,
    private readonly holdings: HoldingsRepository,
    private readonly entitlements: EntitlementsRepository,
    private readonly sources: SourcesService,
    private readonly settling: SettleHoldingService,
  ) {}

  onModuleInit(): void {
    this.subscriptions.register({
      lock: (subscriptions) => this.holdings.changeAccess([...holdersOf(subscriptions).values()]),
      follow: (changes, now) => this.followSubscriptions(changes, now),
    });
    this.deletions.register((customerId) => this.followDeletion(customerId));
  }

  /**
   * What was resolved for these customers holds no more. What a meter counts, and what has grants that roll over, is
   * resolved at once: its window begins with the period, whether anybody asks or not.
   */
  private async followSubscriptions(
    changes: readonly SubscriptionChange[],
    now: Date,
  ): Promise<void> {
    const holders = holdersOf(changes.map(({ after }) => after));
    await this.holdings.changeAccess([...holders.values()]);
    await this.followPayment(changes, now);
    for (const { customerId, entitlement } of await this.keptAhead(changes)) {
      const holder = holders.get(customerId);
      if (holder !== undefined) await this.settling.settle(holder, entitlement, now);
    }
  }

  /**
   * The grace of a subscription begins when it falls behind, and ends when nothing is owed any more: another payment method
   * to try, where the last attempt had failed, does not begin it anew.
   */
  private async followPayment(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    const isBehind = (status: string | undefined): boolean => status === 'past_due';
    const isOwing = (status: string | undefined): boolean =>
      isBehind(status) || status === 'unpaid';
    const fellBehind = changes.filter(
      ({ before, after }) => isBehind(after.status) && !isBehind(before?.status),
    );
    const caughtUp = changes.filter(
      ({ before, after }) => !isOwing(after.status) && isOwing(before?.status),
    );
    if (fellBehind.length > 0) {
      await this.holdings.beginGrace(
        fellBehind.map(({ after }) => after),
        now,
      );
    }
    if (caughtUp.length > 0) await this.holdings.endGrace(caughtUp.map(({ after }) => after.id));
  }

  /** Which entitlements of which customers are to be resolved at once, each once, in the order of their locks. */
  private async keptAhead(
    changes: readonly SubscriptionChange[],
  ): Promise<readonly (Pair & { readonly entitlement: Entitlement })[]> {
    const known = await this.holdings.keptAhead(changes.map(({ after }) => after.customerId));
    const offered = await this.sources.entitlementsIn(
      changes.map(({ after }) => after.planVersionId),
      changes.flatMap(({ after }) => after.addons.map(({ addonId }) => addonId)),
    );
    const metered = await this.entitlements.findMetered([...offered.values()].flat());
    const meteredIds = new Set(metered.map(({ id }) => id));
    const given = changes.flatMap(({ after }) =>
      [after.planVersionId, ...after.addons.map(({ addonId }) => addonId)]
        .flatMap((owner) => offered.get(owner) ?? [])
        .filter((id) => meteredIds.has(id))
        .map((entitlementId) => ({ customerId: after.customerId, entitlementId })),
    );
    const pairs = new Map(
      [...known, ...given].map((pair) => [`${pair.customerId} ${pair.entitlementId}`, pair]),
    );
    const byId = new Map(
      (await this.entitlements.findAll([...pairs.values()].map((pair) => pair.entitlementId))).map(
        (entitlement) => [entitlement.id, entitlement],
      ),
    );
    return [...pairs.entries()]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([, pair]) => {
        const entitlement = byId.get(pair.entitlementId);
        return entitlement === undefined ? [] : [{ ...pair, entitlement }];
      });
  }

  /** Nothing is found for a customer that is gone. */
  private async followDeletion(customerId: string): Promise<void> {
    const { id, testClockId } = await this.customers.getForHistory(customerId);
    await this.holdings.changeAccess([{ id, testClockId }]);
  }
}

function holdersOf(subscriptions: readonly Subscription[]): ReadonlyMap<string, AccessHolder> {
  return new Map(subscriptions.map(({ customerId: id, testClockId }) => [id, { id, testClockId }]));
}
