import { Injectable } from '@nestjs/common';
import { isWireSafe } from '../../core/money';
import { monthlyAmountOf, periodAmountOf } from '../../core/rating';
import { referenceNotFound } from '../../platform/errors';
import { type Addon, CatalogService, type PlanVersion, type CatalogPrice } from '../catalog';
import type { ChangeSubscription, CreateSubscription, PlanVersionChoice } from './domain/commands';
import { isMetered } from './domain/items';
import type { AddonQuantity, Offer, SoldPrice, Subscription } from './domain/subscription';
import {
  planVersionChanged,
  subscriptionTermsContradict,
  subscriptionTooLarge,
} from './subscriptions.errors';

export interface ResolvedOffer {
  readonly offer: Offer;
  readonly version: PlanVersion;
  readonly currency: string;
}

interface Sold {
  readonly version: PlanVersion;
  readonly currency: string;
  readonly expectedId: string | null;
  readonly quantity: string;
  readonly addons: readonly AddonQuantity[];
}

const NONE_HELD: ReadonlySet<string> = new Set();

@Injectable()
export class OffersService {
  constructor(private readonly catalog: CatalogService) {}

  /**
   * Resolves the active version of a plan, and add-ons, to the prices of a new subscription, in the caller's
   * transaction.
   * @throws {ProblemError} `reference_not_found`, `plan_version_changed`, `subscription_terms_contradict`,
   *   `subscription_too_large`
   */
  async resolveNew(command: CreateSubscription): Promise<ResolvedOffer> {
    const { planId, planVersionId: expectedId, quantity, addons } = command;
    const plan = await this.catalog.requirePlanForReference(planId, '/plan_id');
    const { activeVersion: version, currency } = plan;
    return this.resolve({ version, currency, expectedId, quantity, addons }, NONE_HELD);
  }

  /**
   * Resolves the new plan version and add-ons of a subscription to prices, in the caller's transaction. Accepts the
   * plan version and add-ons that the subscription already has, even if they are archived.
   * @throws {ProblemError} `reference_not_found`, `plan_version_changed`, `subscription_terms_contradict`,
   *   `subscription_too_large`
   */
  async resolveChange(held: Subscription, change: ChangeSubscription): Promise<ResolvedOffer> {
    const { version, currency } = await this.versionOf(held, change);
    const quantity = change.quantity ?? held.quantity;
    const addons = change.addons ?? held.addons;
    const heldIds = new Set(held.addons.map(({ addonId }) => addonId));
    const expectedId = change.planVersionId;
    return this.resolve({ version, currency, expectedId, quantity, addons }, heldIds);
  }

  /** Returns the ids of the prices of all versions of a plan. */
  async getPriceIds(planId: string): Promise<ReadonlySet<string>> {
    return new Set((await this.catalog.getPriceIdsOfPlans([planId])).get(planId));
  }

  private async versionOf(
    held: Subscription,
    change: ChangeSubscription,
  ): Promise<Pick<Sold, 'version' | 'currency'>> {
    const planId = change.planId ?? held.planId;
    const choice = change.planVersion ?? (change.planId === null ? 'current' : 'latest');
    if (choice === 'current' && planId !== held.planId) {
      const message = 'can be `current` only for the plan that the subscription has';
      throw subscriptionTermsContradict('/plan_version', message);
    }
    const current = {
      version: await this.catalog.getPlanVersion(held.planVersionId),
      currency: held.currency,
    };
    if (await this.isCurrent(held, planId, choice)) return current;
    const plan = await this.catalog.requirePlanForReference(planId, '/plan_id');
    const { activeVersion, currency } = plan;
    if (typeof choice === 'string') return { version: activeVersion, currency };
    const version = (await this.catalog.getPlanVersions([choice.id])).get(choice.id);
    if (version?.planId !== planId) throw referenceNotFound('/plan_version', choice.id);
    return { version, currency };
  }

  private async isCurrent(
    held: Subscription,
    planId: string,
    choice: PlanVersionChoice,
  ): Promise<boolean> {
    if (planId !== held.planId) return false;
    if (choice === 'current') return true;
    if (choice !== 'latest') return choice.id === held.planVersionId;
    const plan = await this.catalog.findPlanIncludingArchived(planId);
    return plan?.activeVersion.id === held.planVersionId;
  }

  private async resolve(sold: Sold, heldIds: ReadonlySet<string>): Promise<ResolvedOffer> {
    const { version, currency, expectedId, quantity, addons } = sold;
    if (expectedId !== null && expectedId !== version.id) {
      throw planVersionChanged(expectedId, version.id);
    }
    const items: Offer['items'][number][] = version.prices.map((price) => ({
      addonId: null,
      price: toSoldPrice(price),
      quantity,
    }));
    for (const [index, { addonId, quantity: count }] of addons.entries()) {
      const pointer = `/addons/${index}/addon_id`;
      const addon = await this.addon(addonId, heldIds, pointer);
      assertFits(addon, currency, addons, pointer);
      for (const price of addon.prices) {
        items.push({ addonId, price: toSoldPrice(price), quantity: count });
      }
    }
    const { id: planVersionId, planId, interval, intervalCount, proration } = version;
    const terms = { planId, planVersionId, interval, intervalCount, proration };
    const offer = { ...terms, quantity, addons, items };
    assertBillable(offer);
    return { offer, version, currency };
  }

  private async addon(id: string, heldIds: ReadonlySet<string>, pointer: string): Promise<Addon> {
    const sold = heldIds.has(id) ? await this.catalog.getAddonsIncludingArchived([id]) : null;
    return sold?.get(id) ?? this.catalog.requireAddonForReference(id, pointer);
  }
}

function assertFits(
  addon: Addon,
  currency: string,
  addons: readonly AddonQuantity[],
  pointer: string,
): void {
  if (addon.currency !== currency) {
    throw subscriptionTermsContradict(pointer, `is in ${addon.currency}, not in ${currency}`);
  }
  if (addons.filter(({ addonId }) => addonId === addon.id).length > 1) {
    throw subscriptionTermsContradict(pointer, 'is named twice');
  }
}

/**
 * Refuses an offer (plan version and add-ons) whose unmetered prices cost more in a full period than an invoice can
 * bill. Otherwise each renewal would fail. The same maximum applies to their cost per month, because the API returns
 * recurring revenue per month as an integer.
 */
function assertBillable(offer: Offer): void {
  const items = offer.items.filter((item) => !isMetered(item));
  const amounts = items.map(({ price, quantity }) => periodAmountOf(price, quantity));
  // A maximum lowers the invoice with a line of its own, so the line before it must fit as well.
  const unlimited = items.map(({ price, quantity }) =>
    periodAmountOf({ ...price, minimumMinor: null, maximumMinor: null }, quantity),
  );
  const total = amounts.reduce((sum, amount) => sum + amount, 0n);
  if (![...unlimited, total, monthlyAmountOf(total, offer)].every(isWireSafe))
    throw subscriptionTooLarge();
}

function toSoldPrice(price: CatalogPrice): SoldPrice {
  const { meterId, isByGroup } = price;
  return {
    priceId: price.id,
    name: price.name,
    timing: price.timing,
    rating: price.rating,
    minimumMinor: price.minimumAmount,
    maximumMinor: price.maximumAmount,
    ...(meterId === null ? {} : { usage: { meterId, isByGroup } }),
  };
}
