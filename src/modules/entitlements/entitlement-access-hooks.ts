import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CustomerDeletionHooks, CustomersService } from '../customers';
import { type Subscription, type SubscriptionChange, SubscriptionWatchers } from '../subscriptions';
import type { Entitlement } from './domain/entitlement';
import { FeaturesService } from '../features';
import { type EntitledCustomer, BalancesRepository, type BalanceKey } from './balances.repository';
import { RecalculateBalanceService } from './recalculate-balance.service';
import { SourcesService } from './sources.service';

/** Outdates or recalculates balances in the commits that change subscriptions or delete customers. */
@Injectable()
export class EntitlementAccessHooks implements OnModuleInit {
  constructor(
    private readonly subscriptions: SubscriptionWatchers,
    private readonly deletions: CustomerDeletionHooks,
    private readonly customers: CustomersService,
    private readonly balances: BalancesRepository,
    private readonly features: FeaturesService,
    private readonly sources: SourcesService,
    private readonly recalculation: RecalculateBalanceService,
  ) {}

  onModuleInit(): void {
    this.subscriptions.register({
      lock: (subscriptions) =>
        this.balances.invalidateCustomers([...customersOf(subscriptions).values()]),
      follow: (changes, now) => this.onSubscriptionsChanged(changes, now),
    });
    this.deletions.register((customerId) => this.onCustomerDeleted(customerId));
  }

  /**
   * Outdates the balances of these customers. Metered balances, and those with grants, are recalculated at once, because
   * their windows start with the billing period.
   */
  private async onSubscriptionsChanged(
    changes: readonly SubscriptionChange[],
    now: Date,
  ): Promise<void> {
    const customers = customersOf(changes.map(({ after }) => after));
    await this.balances.invalidateCustomers([...customers.values()]);
    await this.updateGracePeriods(changes, now);
    for (const { customerId, entitlement } of await this.eagerBalances(changes)) {
      const customer = customers.get(customerId);
      if (customer !== undefined) await this.recalculation.recalculate(customer, entitlement, now);
    }
  }

  /**
   * Starts the grace period of a subscription when it becomes past due, and ends it when nothing is owed. A subscription
   * that returns from unpaid to past due, because another payment method is tried, keeps its first grace period.
   */
  private async updateGracePeriods(
    changes: readonly SubscriptionChange[],
    now: Date,
  ): Promise<void> {
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
      await this.balances.beginGrace(
        fellBehind.map(({ after }) => after),
        now,
      );
    }
    if (caughtUp.length > 0) await this.balances.endGrace(caughtUp.map(({ after }) => after.id));
  }

  /** Returns the balances to recalculate at once, each once, in lock order. */
  private async eagerBalances(
    changes: readonly SubscriptionChange[],
  ): Promise<readonly (BalanceKey & { readonly entitlement: Entitlement })[]> {
    const known = await this.balances.listEager(changes.map(({ after }) => after.customerId));
    const offered = await this.sources.entitlementsIn(
      changes.map(({ after }) => after.planVersionId),
      changes.flatMap(({ after }) => after.addons.map(({ addonId }) => addonId)),
    );
    const metered = await this.features.getMetered([...offered.values()].flat());
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
      (await this.features.getAll([...pairs.values()].map((pair) => pair.entitlementId))).map(
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

  /** Outdates the balances of a deleted customer, so that checks answer that it is not found. */
  private async onCustomerDeleted(customerId: string): Promise<void> {
    const { id, testClockId } = await this.customers.getForHistory(customerId);
    await this.balances.invalidateCustomers([{ id, testClockId }]);
  }
}

function customersOf(
  subscriptions: readonly Subscription[],
): ReadonlyMap<string, EntitledCustomer> {
  return new Map(subscriptions.map(({ customerId: id, testClockId }) => [id, { id, testClockId }]));
}
