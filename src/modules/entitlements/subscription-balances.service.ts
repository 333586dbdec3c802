import { Injectable } from '@nestjs/common';
import { FeaturesService } from '../features';
import { UsageBillingService, type UsageToBlock } from '../metering';
import type { Subscription } from '../subscriptions';
import {
  type BalanceKey,
  type BalanceEdge,
  BalancesRepository,
  type EntitledCustomer,
  inLockOrder,
} from './balances.repository';
import type { Entitlement } from './domain/entitlement';
import { MeteredUsageService } from './metered-usage.service';
import { RecalculateBalanceService } from './recalculate-balance.service';
import { SourcesService } from './sources.service';

/** A subscription before and after a transaction changed it; `before` is null for a new subscription. */
export interface SubscriptionChange {
  readonly before: Subscription | null;
  readonly after: Subscription;
}

/** Fields of a subscription that determine which balances are recalculated when the subscription changes. */
export type EntitlingSubscription = Pick<Subscription, 'customerId' | 'planVersionId' | 'addons'>;

const NO_USAGE: UsageToBlock = { events: [], customerIds: [] };

interface EagerBalance extends BalanceKey {
  readonly entitlement: Entitlement;
}

/** Updates entitlement balances in the transaction that changes subscriptions. */
@Injectable()
export class SubscriptionBalancesService {
  constructor(
    private readonly balances: BalancesRepository,
    private readonly features: FeaturesService,
    private readonly sources: SourcesService,
    private readonly recalculateBalance: RecalculateBalanceService,
    private readonly usage: MeteredUsageService,
    private readonly usageBilling: UsageBillingService,
  ) {}

  /**
   * Requires that usage can be counted exactly in the windows that the subscription would have at `now` with the given
   * plan version. Must be called before a subscription starts with this version or changes to it. Does nothing for a
   * subscription that starts in the future, because it has no windows yet.
   * @throws {ProblemError} `usage_archived`
   */
  async requireCountable(
    subscription: Subscription,
    planVersionId: string,
    now: Date,
  ): Promise<void> {
    if (subscription.currentPeriodStartAt === null) return;
    const windows = await this.sources.windowsOf(subscription, planVersionId, now);
    const metered = await this.features.getMetered(
      windows.map(({ entitlementId }) => entitlementId),
    );
    for (const { entitlementId, window } of windows) {
      const meterId = metered.find(({ id }) => id === entitlementId)?.meterId ?? null;
      if (meterId !== null)
        await this.usage.requireCountable(subscription.customerId, meterId, window);
    }
  }

  /**
   * Increments the access version of each customer of these subscriptions, which locks the version and invalidates the
   * customer's cached balances. Must be called before the transaction changes the subscriptions.
   */
  async lock(subscriptions: readonly Subscription[]): Promise<void> {
    await this.balances.invalidateCustomers([...customersOf(subscriptions).values()]);
  }

  /** Returns the usage (customers and event names) that {@link updateAfterChanges} counts for these subscriptions. */
  async usageOf(subscriptions: readonly Subscription[]): Promise<UsageToBlock['events']> {
    return this.usageCountedBy(await this.eagerBalances(subscriptions));
  }

  /**
   * Returns, by customer, the number of balances that {@link updateAfterChanges} recalculates for these subscriptions.
   * Takes no locks, so the number may change.
   */
  async countRecalculated(
    subscriptions: readonly EntitlingSubscription[],
  ): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { customerId } of await this.eagerKeys(subscriptions))
      counts.set(customerId, (counts.get(customerId) ?? 0) + 1);
    return counts;
  }

  /**
   * Returns the starts and ends of the present windows of these customers, and the instants up to which former windows
   * counted usage. A later window counts the usage before such an instant separately.
   */
  windowEdges(customerIds: readonly string[]): Promise<readonly BalanceEdge[]> {
    return this.balances.windowEdges(customerIds);
  }

  /** Invalidates the cached balances of a deleted customer, so that access checks no longer find the customer. */
  async invalidate({ id, testClockId }: EntitledCustomer): Promise<void> {
    await this.balances.invalidateCustomers([{ id, testClockId }]);
  }

  /**
   * Invalidates the balances of the customers of these subscriptions, and starts or ends grace periods. Then
   * recalculates
   * - each existing balance of these customers for a metered entitlement, if the entitlement has a meter or the
   *   customer has a grant for it that has not ended;
   * - the balance for each entitlement with a meter in the plan version or the add-ons of a changed subscription.
   *   Creates the balance if it is missing, because its window starts with the billing period.
   *
   * Locks usage before the first balance, in the same order as ingestion and background work.
   * @param billed usage that the transaction bills afterwards. It is locked here too, together with the counted usage.
   */
  async updateAfterChanges(
    changes: readonly SubscriptionChange[],
    now: Date,
    billed = NO_USAGE,
  ): Promise<void> {
    if (changes.length === 0) return;
    const customers = customersOf(changes.map(({ after }) => after));
    await this.balances.invalidateCustomers([...customers.values()]);
    await this.updateGracePeriods(changes, now);
    const balances = await this.eagerBalances(changes.map(({ after }) => after));
    if (balances.length > 0) {
      const events = [...billed.events, ...(await this.usageCountedBy(balances))];
      await this.usageBilling.blockNewEvents({ events, customerIds: billed.customerIds });
    }
    for (const { customerId, entitlement } of balances) {
      const customer = customers.get(customerId);
      if (customer !== undefined)
        await this.recalculateBalance.recalculate(customer, entitlement, now);
    }
  }

  /**
   * Starts the grace period of a subscription when it becomes past due or unpaid. Ends the grace period when the
   * subscription is no longer past due or unpaid. A change between past due and unpaid does not restart the grace
   * period.
   */
  private async updateGracePeriods(
    changes: readonly SubscriptionChange[],
    now: Date,
  ): Promise<void> {
    const isOwing = (status: string | undefined): boolean =>
      status === 'past_due' || status === 'unpaid';
    const fellBehind = changes.filter(
      ({ before, after }) => isOwing(after.status) && after.status !== before?.status,
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

  private async usageCountedBy(balances: readonly EagerBalance[]): Promise<UsageToBlock['events']> {
    const counted: UsageToBlock['events'][number][] = [];
    for (const { customerId, entitlement } of balances) {
      const { meterId } = entitlement;
      if (meterId !== null)
        counted.push({ customerId, eventName: await this.usage.eventNameOf(meterId) });
    }
    return counted;
  }

  /**
   * Returns the balances to recalculate, in lock order: by customer id, then by entitlement id. Locks their
   * entitlements against deletion. Otherwise the recalculation could insert a deleted balance again.
   */
  private async eagerBalances(
    subscriptions: readonly EntitlingSubscription[],
  ): Promise<readonly EagerBalance[]> {
    const keys = await this.eagerKeys(subscriptions);
    const entitlements = await this.features.lockForReference(
      keys.map(({ entitlementId }) => entitlementId),
    );
    const byId = new Map(entitlements.map((entitlement) => [entitlement.id, entitlement]));
    return inLockOrder(keys).flatMap((key) => {
      const entitlement = byId.get(key.entitlementId);
      return entitlement === undefined ? [] : [{ ...key, entitlement }];
    });
  }

  private async eagerKeys(
    subscriptions: readonly EntitlingSubscription[],
  ): Promise<readonly BalanceKey[]> {
    const known = await this.balances.listEager(subscriptions.map(({ customerId }) => customerId));
    const offered = await this.sources.entitlementsIn(
      subscriptions.map(({ planVersionId }) => planVersionId),
      subscriptions.flatMap(({ addons }) => addons.map(({ addonId }) => addonId)),
    );
    const metered = await this.features.getMetered([...offered.values()].flat());
    const meteredIds = new Set(metered.map(({ id }) => id));
    const given = subscriptions.flatMap(({ customerId, planVersionId, addons }) =>
      [planVersionId, ...addons.map(({ addonId }) => addonId)]
        .flatMap((owner) => offered.get(owner) ?? [])
        .filter((id) => meteredIds.has(id))
        .map((entitlementId) => ({ customerId, entitlementId })),
    );
    const keys = [...known, ...given];
    return [
      ...new Map(keys.map((key) => [`${key.customerId} ${key.entitlementId}`, key])).values(),
    ];
  }
}

function customersOf(
  subscriptions: readonly Subscription[],
): ReadonlyMap<string, EntitledCustomer> {
  return new Map(subscriptions.map(({ customerId: id, testClockId }) => [id, { id, testClockId }]));
}
