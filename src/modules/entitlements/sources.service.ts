import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { parseExact } from '../../core/decimal';
import { earliest } from '../../core/time';
import { Configuration } from '../../platform/config';
import { CatalogService, type PlanEntitlement } from '../catalog';
import { anchorOf, type Subscription, SubscriptionsService } from '../subscriptions';
import { AddonEntitlementsRepository } from './addon-entitlements.repository';
import { accessOf } from './domain/access';
import { type Allowance, allowanceOf, type AllowanceSource } from './domain/allowance';
import type { AddonEntitlement } from './domain/addon-entitlement';
import type { BalanceRow } from './domain/customer-entitlement';
import { type ResetWindow, type Reset, windowAt, type WindowRule } from './domain/reset-window';
import { BalancesRepository } from './balances.repository';

const HOUR_MS = 3_600_000;

/** Quantity of one entitlement that the subscriptions of a customer allow at a certain time. */
export interface CustomerAllowance extends Allowance {
  /** Rule for the reset window; null if no subscription gives the entitlement. */
  readonly windowRule: WindowRule | null;
  /** Time until which the result is valid; null: until a subscription changes. */
  readonly until: Date | null;
}

/** Subscriptions that give access now, with the entitlements of their plans and add-ons. */
interface OfferedSources {
  readonly subscriptions: readonly Subscription[];
  readonly byVersion: ReadonlyMap<string, readonly PlanEntitlement[]>;
  readonly links: readonly AddonEntitlement[];
  readonly until: Date | null;
}

@Injectable()
export class SourcesService {
  private readonly graceMs: number;

  constructor(
    private readonly subscriptions: SubscriptionsService,
    private readonly catalog: CatalogService,
    private readonly links: AddonEntitlementsRepository,
    private readonly balances: BalancesRepository,
    configuration: Configuration,
  ) {
    this.graceMs = configuration.pastDueGraceHours * HOUR_MS;
  }

  /**
   * Returns the allowance of a customer for one entitlement. The sources are sorted by subscription, the oldest first.
   * Within a subscription, the plan comes before the add-ons.
   */
  async allowance(
    customerId: string,
    entitlementId: string,
    now: Date,
  ): Promise<CustomerAllowance> {
    const offered = await this.offeredSources(customerId, now);
    const found = offered.subscriptions.flatMap((subscription) =>
      sourcesIn(subscription, offered, entitlementId),
    );
    // The plan defines when the allowance resets. Without a plan, add-ons reset with the billing period.
    const leading = found.find(({ source }) => source.kind === 'plan') ?? found[0];
    return {
      ...allowanceOf(found.map(({ source }) => source)),
      windowRule:
        leading === undefined
          ? null
          : { reset: leading.reset, billing: billingOf(leading.subscription) },
      until: offered.until,
    };
  }

  /**
   * Returns the rule for windows that started before now. Normally this is the rule of `given`, which applies now. The
   * exception is a stored calendar window that ended while the stored terms of its subscription still applied. The rule
   * of that window then applies, because the present rule may be newer. The plan may have another reset now, or another
   * subscription with another time zone may define the windows.
   */
  async formerRule(
    row: BalanceRow,
    { windowRule: current, sources: given }: Pick<CustomerAllowance, 'windowRule' | 'sources'>,
    now: Date,
  ): Promise<WindowRule | null> {
    const { reset, windowEndAt, sources } = row;
    if (windowEndAt === null || windowEndAt >= now) return current;
    const leading = sources.find(({ type }) => type === 'plan')?.subscriptionId ?? null;
    if (reset === null || reset === 'period' || reset === 'never' || leading === null)
      return current;
    const isSameReset = reset === current?.reset;
    const leadingNow = given.find(({ kind }) => kind === 'plan')?.subscriptionId;
    if (isSameReset && leading === leadingNow) return current;
    const subscription = await this.subscriptions.get(leading);
    if (isSameReset && subscription.timeZone === current.billing.anchor.timeZone) return current;
    const end = endOf(subscription, row);
    if (end !== null && end <= windowEndAt) return current;
    const { startAt } = subscription;
    return { reset, billing: { startAt, currentPeriod: null, anchor: anchorOf(subscription) } };
  }

  /**
   * Returns, by subscription id, until when the subscription gave the allowance that the balance stores. This is the
   * earliest of
   * - the end of the subscription, the end of its grace period, and `now`;
   * - the start of its current period, if that is after the window or the last change of the balance, because plans may
   *   change with a period.
   */
  async endsOf(row: BalanceRow, now: Date): Promise<ReadonlyMap<string, Date>> {
    const ids = new Set(row.sources.flatMap(({ subscriptionId }) => subscriptionId ?? []));
    const graces =
      ids.size > 0 ? await this.balances.gracesOf(row.customerId) : new Map<string, Date>();
    const ends = new Map<string, Date>();
    for (const id of ids) {
      const pastDueSince = graces.get(id) ?? null;
      const graceEndsAt = pastDueSince && new Date(pastDueSince.getTime() + this.graceMs);
      const end = endOf(await this.subscriptions.get(id), row);
      ends.set(id, earliest([end, graceEndsAt, now]) ?? now);
    }
    return ends;
  }

  /** Returns the current window of each entitlement that the plan version or an add-on of the subscription gives. */
  async windowsOf(
    subscription: Subscription,
    planVersionId: string,
    now: Date,
  ): Promise<readonly { readonly entitlementId: string; readonly window: ResetWindow }[]> {
    const byVersion = await this.catalog.getPlanEntitlements([planVersionId]);
    const addonIds = subscription.addons.map(({ addonId }) => addonId);
    const links = await this.links.findByAddons(addonIds);
    const ofPlan = byVersion.get(planVersionId) ?? [];
    const ofAddons = links.map(({ entitlementId }) => ({
      entitlementId,
      reset: 'period' as const,
    }));
    const billing = billingOf(subscription);
    return [...ofPlan, ...ofAddons].map(({ entitlementId, reset }) => ({
      entitlementId,
      window: windowAt(reset, billing, now),
    }));
  }

  /** Returns the ids of the entitlements that the subscriptions of a customer give at `now`. An id may be repeated. */
  async entitlementsOf(customerId: string, now: Date): Promise<readonly string[]> {
    const { byVersion, links } = await this.offeredSources(customerId, now);
    return [...[...byVersion.values()].flat(), ...links].map(({ entitlementId }) => entitlementId);
  }

  /** Returns the entitlement ids of plan versions and add-ons, by the id of the version or add-on. */
  async entitlementsIn(
    planVersionIds: readonly string[],
    addonIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const byVersion = await this.catalog.getPlanEntitlements(planVersionIds);
    const links = await this.links.findByAddons(addonIds);
    const found = new Map<string, string[]>();
    const add = (owner: string, entitlementId: string): void => {
      found.set(owner, [...(found.get(owner) ?? []), entitlementId]);
    };
    for (const [versionId, listed] of byVersion) {
      for (const { entitlementId } of listed) add(versionId, entitlementId);
    }
    for (const { addonId, entitlementId } of links) add(addonId, entitlementId);
    return found;
  }

  private async offeredSources(customerId: string, now: Date): Promise<OfferedSources> {
    const running = await this.subscriptions.findRunning(customerId);
    const graces = running.some(({ status }) => status === 'past_due')
      ? await this.balances.gracesOf(customerId)
      : new Map<string, Date>();
    const found = running.map((subscription) => ({
      subscription,
      access: accessOf(
        { ...subscription, pastDueSince: graces.get(subscription.id) ?? null },
        this.graceMs,
        now,
      ),
    }));
    const subscriptions = found
      .filter(({ access }) => access.isGiven)
      .map(({ subscription }) => subscription);
    const addonIds = subscriptions.flatMap(({ addons }) => addons.map(({ addonId }) => addonId));
    return {
      subscriptions,
      byVersion: await this.catalog.getPlanEntitlements(
        subscriptions.map(({ planVersionId }) => planVersionId),
      ),
      links: await this.links.findByAddons(addonIds),
      until: earliest(found.map(({ access }) => access.until)),
    };
  }
}

/**
 * Returns the end of a subscription, or the start of its current period if that is earlier. The start counts only if it
 * is not before the end of the window, or is after the last change of the balance. Null if neither applies.
 */
function endOf(
  { endedAt, cancelAt, currentPeriodStartAt: periodAt }: Subscription,
  { windowEndAt, updatedAt }: Pick<BalanceRow, 'windowEndAt' | 'updatedAt'>,
): Date | null {
  const isRenewed =
    periodAt !== null &&
    (periodAt > updatedAt || (windowEndAt !== null && periodAt >= windowEndAt));
  return earliest([endedAt ?? cancelAt, isRenewed ? periodAt : null]);
}

interface FoundSource {
  readonly source: AllowanceSource;
  readonly subscription: Subscription;
  readonly reset: Reset;
}

function sourcesIn(
  subscription: Subscription,
  { byVersion, links }: OfferedSources,
  entitlementId: string,
): readonly FoundSource[] {
  const { id: subscriptionId, planId, planVersionId, addons } = subscription;
  const plans = (byVersion.get(planVersionId) ?? [])
    .filter((listed) => listed.entitlementId === entitlementId)
    .map(({ value, isHardLimit, reset }) => ({
      source: { kind: 'plan', subscriptionId, planId, value: exact(value), isHardLimit } as const,
      subscription,
      reset,
    }));
  const brought = addons.flatMap(({ addonId, quantity }) =>
    links
      .filter((link) => link.addonId === addonId && link.entitlementId === entitlementId)
      .map(({ mode, value }) => ({
        source: {
          kind: 'addon',
          subscriptionId,
          addonId,
          mode,
          value: exact(value),
          quantity: parseExact(quantity),
        } as const,
        subscription,
        reset: 'period' as const,
      })),
  );
  return [...plans, ...brought];
}

function exact(value: string | null) {
  return value === null ? null : parseExact(value);
}

function billingOf(subscription: Subscription): WindowRule['billing'] {
  const { startAt, status, currentPeriodStartAt, currentPeriodEndAt } = subscription;
  invariant(
    currentPeriodStartAt !== null && currentPeriodEndAt !== null,
    `The subscription ${subscription.id} gives access and has a period.`,
  );
  const anchor = anchorOf(subscription);
  return {
    startAt,
    currentPeriod: { startAt: currentPeriodStartAt, endAt: currentPeriodEndAt },
    // The periods after a trial are counted from the end of the trial.
    anchor: status === 'trialing' ? { ...anchor, startAt: currentPeriodEndAt } : anchor,
  };
}
